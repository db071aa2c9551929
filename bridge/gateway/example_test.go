package gateway_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/bridge"
	"github.com/runcode-go/runcode/bridge/gateway"
	"github.com/runcode-go/runcode/registry"
	"github.com/runcode-go/runcode/registry/schema"
	"github.com/runcode-go/runcode/runtime/gojaengine"
)

// A gateway over a registry with one tool, and a client that runs a program in it.
func Example() {
	ctx := context.Background()
	engine, err := gojaengine.New(gojaengine.Options{}) // for programs that are trusted; wasmengine isolates them
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close(ctx)
	sdk := gateway.SDKOptions(bridge.Options{}.SDK, 0)
	b, err := bridge.New(bridge.Options{Engine: engine, SDK: sdk, PerRun: gateway.PerRun})
	if err != nil {
		log.Fatal(err)
	}
	reg, err := registry.New(registry.Options{Mode: registry.Code, Transport: b, Approver: gateway.Approver(nil)})
	if err != nil {
		log.Fatal(err)
	}
	double, err := registry.Define(registry.Spec[struct{ N int }, int]{
		Name: "double", Description: "Doubles a number.",
		Parameters: schema.Props{schema.Required("n", schema.Integer())},
		Output:     schema.Integer(),
		Run: func(_ context.Context, args struct{ N int }, _ *registry.Run) (int, error) {
			return 2 * args.N, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := reg.Register(double); err != nil {
		log.Fatal(err)
	}
	g, err := gateway.New(gateway.Options{Registry: reg, SDK: sdk})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close(ctx)

	// A command serves os.Stdin and os.Stdout.
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	go g.ServeStdio(ctx, in, out)

	client := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: registry.RunCode, Arguments: map[string]any{
		"code":        "let n = 1; while (n < 100) n = await tools.double({ n }); return n",
		"description": "Double until it is large",
	}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	// Output: 128
}
