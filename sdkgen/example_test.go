package sdkgen_test

import (
	"fmt"

	"github.com/runcode-go/runcode/runtime/jsonval"
	"github.com/runcode-go/runcode/sdkgen"
)

func ExampleIndex_Search() {
	tools := []sdkgen.Tool{
		{Name: "send_mail", Description: "Sends a message.", Parameters: jsonval.MustOf(map[string]any{
			"type": "object", "properties": map[string]any{"to": map[string]any{"type": "string", "format": "email"}}, "required": []string{"to"}, "additionalProperties": false,
		})},
		{Name: "read_file", Description: "Reads a file."},
	}
	sdk, err := sdkgen.New("typescript", tools, sdkgen.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, match := range sdk.Index().Search("mails", 1) {
		fmt.Println(match.Declaration)
	}
	// Output:
	// /** Sends a message. */
	// tools.send_mail(args: {
	//   to: string;
	// }): Promise<JsonValue>;
}
