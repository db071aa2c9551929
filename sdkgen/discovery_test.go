package sdkgen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shop is a set of tools of two servers and some others.
func shop(t testing.TB) []Tool {
	var tools []Tool
	add := func(name, about string, members ...string) {
		properties := js(t, `{}`)
		for _, m := range members {
			properties = properties.With(m, js(t, `{"type":"string"}`))
		}
		tools = append(tools, Tool{Name: name, Description: about, Parameters: js(t, `{"type":"object"}`).With("properties", properties), Output: js(t, mcpOutput)})
	}
	add("mcp__mail__send_message", "Sends a message to one or more recipients.", "to", "subject", "body")
	add("mcp__mail__searchMessages", "Finds messages in the mailbox.", "query", "folder")
	add("mcp__mail__delete", "Removes a message for good.", "messageId")
	add("mcp__files__read_file", "Reads a file and returns its text.", "path")
	add("mcp__files__write_file", "Writes text to a file.", "path", "text")
	add("mcp__files__delete", "Removes a file.", "path")
	add("crm_list_customers", "Lists customers.", "limit")
	add("crm_get_customer", "Gets one customer and all of the repositories, messages and files that belong to it.", "id")
	add("crm_delete_customer", "Deletes a customer.", "id")
	add("weather", "Tells the weather.", "city")
	add("odd name\n", "Has an odd name.")
	return tools
}

func discovery(t testing.TB, language string, tokens int, usage map[string]int64) (*SDK, string) {
	t.Helper()
	s, err := New(language, shop(t), Options{MaxTokens: tokens, Usage: usage})
	if err != nil {
		t.Fatal(err)
	}
	return s, s.Section()
}

func TestDiscovery(t *testing.T) {
	whole, _ := discovery(t, "typescript", 0, nil)
	size := Tokens(whole.Section())
	t.Run("GATE-3 what fits is shown whole", func(t *testing.T) {
		s, text := discovery(t, "typescript", size, nil)
		if s.Discovery() || text != whole.Section() {
			t.Error("it did not fit")
		}
		hasNot(t, text, "sdk.search")
	})
	for _, language := range Languages() {
		full, _ := discovery(t, language, 0, nil)
		minimum, text := discovery(t, language, 1, nil)
		t.Run("GATE-3 SDK-13 above the budget an index, sdk, and no declaration if there is no room in "+language, func(t *testing.T) {
			if !minimum.Discovery() {
				t.Fatal("no discovery")
			}
			has(t, text, "Index of all 11 tools", "mcp__mail__*: delete, and 2 more\n", "crm_*: delete_customer, and 2 more\n", " *: \"odd name\\n\", weather\n",
				"await sdk.search(", "await sdk.describe(", map[string]string{"typescript": "declare const sdk: {", "python": "sdk: Sdk\n"}[language])
			hasNot(t, text, "send_message")
			if minimum.Declarations() != full.Declarations() {
				t.Error("the declarations are not those of all tools")
			}
		})
		t.Run("GATE-3 the index names all tools where it can, within the budget, in "+language, func(t *testing.T) {
			budget := Tokens(text) + 120
			s, text := discovery(t, language, budget, nil)
			if !s.Discovery() || Tokens(text) > budget {
				t.Errorf("%v, %d tokens of %d", s.Discovery(), Tokens(text), budget)
			}
			has(t, text, "crm_*: delete_customer, get_customer, list_customers\n", "mcp__files__*: delete, read_file, write_file\n", "mcp__mail__*: delete, searchMessages, send_message\n")
		})
	}
	t.Run("GATE-3 the most used are declared first, then the shortest", func(t *testing.T) {
		_, least := discovery(t, "typescript", 1, nil)
		room := Tokens(least) + 160
		_, text := discovery(t, "typescript", room, map[string]int64{"crm_get_customer": 7, "mcp__mail__send_message": 9, "gone": 100})
		has(t, text, "  mcp__mail__send_message: {\n", "  crm_get_customer: {\n", "  crm_get_customer: McpResult;\n")
		hasNot(t, text, "  weather: {\n")
		_, text = discovery(t, "typescript", room, nil)
		has(t, text, "interface ToolArgsMap {}\n") // less than half would fit
		partial := 0
		for room := range 400 {
			_, text = discovery(t, "typescript", Tokens(least)+room, nil)
			declared := strings.Count(text, ": McpResult;\n")
			if strings.Contains(text, "  crm_get_customer: {\n") && declared < len(shop(t)) {
				t.Errorf("the longest is there, but only %d of the others", declared-1)
			}
			if declared > 0 && declared < len(shop(t)) {
				partial++
			}
		}
		if partial == 0 {
			t.Error("never a part of the set")
		}
	})
	t.Run("SDK-4 the same usage gives the same bytes", func(t *testing.T) {
		usage := map[string]int64{"weather": 1, "crm_list_customers": 1, "mcp__mail__delete": 1}
		_, want := discovery(t, "typescript", size*8/10, usage)
		for range 10 {
			if _, text := discovery(t, "typescript", size*8/10, usage); text != want {
				t.Fatal("they differ")
			}
		}
	})
	t.Run("GATE-3 it compiles and parses", func(t *testing.T) {
		parse := func(language string) string {
			_, text := discovery(t, language, size-1, nil)
			_, code, _ := strings.Cut(text, "```"+map[string]string{"typescript": "ts", "python": "python"}[language]+"\n")
			return strings.TrimSuffix(code, "```\n")
		}
		parsesAsPython(t, parse("python"))
		if out := typeCheck(t, []string{"--strict"}, map[string]string{"sample.ts": parse("typescript") +
			`const found = await sdk.search("mail"); const more = await sdk.search({ query: "mail", limit: 2 }); const d: string = await sdk.describe(found[0]!.name) + more[0]!.declaration; await tools.weather({ city: "x" }); export { d };`}); out != "" {
			t.Error(out)
		}
	})
	t.Run("SDK-11 names in the index cannot leave it", func(t *testing.T) {
		var tools []Tool
		for i, name := range []string{"mcp__\n__a", "x\n_a", "x\n_b", "x\n_c", "```_a", "```_b", "```_c", "", "\u202e", "a*: b", "*/_x"} {
			tools = append(tools, Tool{Name: name, Description: strings.Repeat("long ", 200*i)})
		}
		text := section(t, "typescript", Options{MaxTokens: 1200}, tools...)
		has(t, text, "Index of all 11 tools")
		if strings.Count(text, "```") != 2 || strings.Count(text, "\n// ") < 2 {
			t.Error(text)
		}
		_, code, _ := strings.Cut(text, "Index of all")
		for line := range strings.Lines(code[strings.IndexByte(code, '\n')+1 : strings.Index(code, "\n\n")+1]) {
			if !strings.HasPrefix(line, "// ") {
				t.Errorf("a line of the index is no comment: %q", line)
			}
		}
	})
}

func names(matches []Match) []string {
	var list []string
	for _, m := range matches {
		list = append(list, m.Name)
	}
	return list
}

func TestSearch(t *testing.T) {
	s, err := New("typescript", shop(t), Options{MaxTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	x := s.Index()
	for query, first := range map[string]string{
		"send mail":                "mcp__mail__send_message",
		"SEND MESSAGES":            "mcp__mail__send_message",
		"search messages":          "mcp__mail__searchMessages",
		"find a message":           "mcp__mail__searchMessages",
		"file read":                "mcp__files__read_file",
		"writes text":              "mcp__files__write_file",
		"customers":                "crm_list_customers",
		"repository":               "crm_get_customer",
		"repo":                     "crm_get_customer",
		"subject":                  "mcp__mail__send_message",
		"message id":               "mcp__mail__delete",
		"weather":                  "weather",
		"mcp__files__delete":       "mcp__files__delete",
		"read_file":                "mcp__files__read_file",
		"tools.weather({city: 1})": "weather",
	} {
		t.Run("GATE-3 search "+query, func(t *testing.T) {
			if got := names(x.Search(query, 3)); len(got) == 0 || got[0] != first {
				t.Errorf("got %q", got)
			}
		})
	}
	t.Run("GATE-3 limits", func(t *testing.T) {
		for limit, want := range map[int]int{0: 5, -3: 5, 2: 2, 1000: 9} {
			if got := x.Search("message file customer", limit); len(got) != want {
				t.Errorf("limit %d: %q", limit, names(got))
			}
		}
		var many []Tool
		for i := range 200 {
			many = append(many, Tool{Name: fmt.Sprintf("find_%d", i)})
		}
		s, err := New("python", many, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Index().Search("find", 1000); len(got) != maxLimit {
			t.Errorf("%d matches", len(got))
		}
	})
	t.Run("GATE-3 nothing fits", func(t *testing.T) {
		for _, query := range []string{"", "   ", "zzz", "\xff\x00"} {
			if got := x.Search(query, 3); got == nil || len(got) != 0 {
				t.Errorf("%q finds %q", query, names(got))
			}
		}
		empty, err := New("typescript", nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := empty.Index().Search("a", 3); len(got) != 0 {
			t.Error(got)
		}
		if _, err := empty.Index().Describe("a"); err == nil || err.Error() != "there are no tools" {
			t.Error(err)
		}
	})
	t.Run("GATE-3 equal scores stay in name order", func(t *testing.T) {
		got := names(x.Search("delete", 10))
		if !slices.Contains(got, "mcp__files__delete") || slices.Index(got, "mcp__files__delete") > slices.Index(got, "mcp__mail__delete") {
			t.Error(got)
		}
	})
	t.Run("GATE-3 a huge query ends", func(t *testing.T) {
		x.Search(strings.Repeat("mail ", 1<<16)+strings.Repeat("x", 1<<16), 3)
	})
}

func TestDescribe(t *testing.T) {
	s, err := New("typescript", shop(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := s.Index()
	const want = "/** Reads a file and returns its text. */\ntools.mcp__files__read_file(args: {\n  path?: string;\n} & Record<string, JsonValue>): Promise<McpResult>;"
	t.Run("GATE-3 a declaration", func(t *testing.T) {
		for _, name := range []string{"mcp__files__read_file", "read_file"} {
			got, err := x.Describe(name)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
		}
		same(t, x.Search("read_file", 1)[0].Declaration, want)
		odd, err := x.Describe("odd name\n")
		if err != nil {
			t.Fatal(err)
		}
		has(t, odd, `tools["odd name\n"](args: Record<string, JsonValue>)`)
	})
	t.Run("GATE-3 descriptions are whole here and short in a search, as in the section", func(t *testing.T) {
		s, err := New("typescript", shop(t), Options{MaxDescription: 10})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Index().Describe("read_file")
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		has(t, s.Index().Search("read_file", 1)[0].Declaration, "/** Reads a… */")
	})
	t.Run("GATE-3 a declaration in Python", func(t *testing.T) {
		s, err := New("python", shop(t), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Index().Describe("read_file")
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, "class McpFilesReadFileArgs(TypedDict):\n    path: NotRequired[str]\n    # More keys are allowed.\n\n# Reads a file and returns its text.\n# await tools.mcp__files__read_file(args: McpFilesReadFileArgs) -> McpResult")
		parsesAsPython(t, got)
	})
	t.Run("CODE-34 a name that is wrong or means several", func(t *testing.T) {
		for name, want := range map[string]string{
			"readfile": `no tool is called "readfile"; the nearest names are "mcp__files__read_file", `,
			"wether":   `no tool is called "wether"; the nearest names are "weather", `,
			"delete":   `several servers have a tool "delete"; name one in full: "mcp__files__delete", "mcp__mail__delete"`,
			"":         `no tool is called ""; the nearest names are `,
			"\x00`\n":  `no tool is called "\\x00` + "`" + `"; the nearest names are `,
		} {
			if _, err := x.Describe(name); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	})
}

func TestQuestion(t *testing.T) {
	for text, want := range map[string]string{
		`"send mail"`:                 "send mail 0",
		`{"query":"a"}`:               "a 0",
		`{"query":"a","limit":3}`:     "a 3",
		`{"query":"a","limit":1e300}`: "a 50",
		`{"query":"a","limit":-5}`:    "a 0",
		`{"limit":3}`:                 "error",
		`{"query":1}`:                 "error",
		`{"query":"a","limit":"3"}`:   "error",
		`null`:                        "error",
		`["a"]`:                       "error",
	} {
		query, limit, err := Question(js(t, text))
		got := fmt.Sprint(query, " ", limit)
		if err != nil {
			got = "error"
			has(t, err.Error(), "sdk.search takes a text, or an object such as")
		}
		if got != want {
			t.Errorf("GATE-3 %s: got %s", text, got)
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"readFile": "read file", "HTTPServer": "http server", "get_user_IDs": "get user ids", "listURLsOf": "list urls of", "my-tool.v2": "my tool v2", "S3Buckets": "s3 buckets", "base64Encode": "base64 encode",
		"Ünïcode Straße": "ünïcode straße", "搜索 files": "搜 索 files", "": "", "--": "",
	} {
		var got []string
		words(text, func(w string) { got = append(got, w) })
		if strings.Join(got, " ") != want {
			t.Errorf("GATE-3 %q: got %q", text, got)
		}
	}
}

func TestStem(t *testing.T) {
	for want, forms := range map[string]string{
		"query": "query queries", "box": "box boxes", "class": "class classes", "status": "status", "analysis": "analysis", "is": "is",
		"creat": "create creates created creating creation", "delet": "delete deleted deleting deletion", "run": "run runs running",
		"stop": "stop stopped", "fill": "fill filled filling", "pass": "pass passes passed passing", "pod": "pod pods", "string": "string strings",
		"red": "red", "thing": "thing things", "ünïcod": "ünïcode", "搜": "搜", "s3": "s3", "": "", "s": "s", "es": "es", "need": "need needed",
	} {
		for form := range strings.FieldsSeq(forms) {
			if got := stem(form); got != want {
				t.Errorf("GATE-3 %q: got %q, want %q", form, got, want)
			}
		}
	}
}

// TestSearchWords has the parts of the ranking one by one.
func TestSearchWords(t *testing.T) {
	tool := func(name, about string) Tool { return Tool{Name: name, Description: about} }
	for _, c := range []struct {
		name, query, first string
		tools              []Tool
	}{
		{"a word in any inflection", "creating branches", "branch_create", []Tool{tool("branch_create", ""), tool("a_list", "branch")}},
		{"words that say nothing do not count", "what are my branches", "zz", []Tool{tool("zz", "branches"), tool("what_are_my", "")}},
		{"but where there is nothing else", "which", "which", []Tool{tool("a", "x"), tool("which", "")}},
		{"a word of the same meaning", "show the folder", "list_directory", []Tool{tool("list_directory", ""), tool("a", "shoe")}},
		{"less than the word itself", "remove", "remove_it", []Tool{tool("delete_it", ""), tool("remove_it", "")}},
		{"what is deprecated comes behind", "read it", "z_read", []Tool{tool("a_read", "Reads. **DEPRECATED**: use z_read."), tool("b_read", "Reads. This tool is deprecated."), tool("z_read", "Reads.")}},
		{"but not what is about it", "read deprecated", "b_read", []Tool{tool("a_read", "Reads."), tool("b_read", "Reads the list of deprecated names.")}},
		{"the beginning of a word that nothing has", "kuber", "kubernetes", []Tool{tool("a", "cube"), tool("kubernetes", "")}},
		{"the server's name", "mail delete", "mcp__mail__delete", []Tool{tool("mcp__files__delete", ""), tool("mcp__mail__delete", "")}},
		{"less than the tool's name", "mail", "mcp__a__mail", []Tool{tool("mcp__a__mail", ""), tool("mcp__mail__a", "")}},
		{"what it does before what else it says", "invoice", "b", []Tool{tool("a", "Sends mail. Not for an invoice."), tool("b", "Sends an invoice. Not for mail.")}},
		{"what an argument is about", "viewport", "b", []Tool{tool("a", ""), {Name: "b", Parameters: js(t, `{"type":"object","properties":{"x":{"type":"string","description":"Size of the viewport"}}}`)}}},
		{"what an argument admits", "landscape", "b", []Tool{tool("a", ""), {Name: "b", Parameters: js(t, `{"type":"object","properties":{"x":{"type":"string","enum":["landscape","portrait"]}}}`)}}},
	} {
		t.Run("GATE-3 "+c.name, func(t *testing.T) {
			s, err := New("typescript", c.tools, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Index().Search(c.query, 3); len(got) == 0 || got[0].Name != c.first {
				t.Errorf("got %+v", got)
			}
		})
	}
}
