// This file defines the prompt texts that do not depend on the tools (PROMPT-1 to PROMPT-11).

package sdkgen

// texts are the constant texts of one language. None of them holds a word of the other language (PROMPT-9).
type texts struct {
	instructions string // in front of the declarations
	discovery    string // one instruction more, where not every tool is declared
	runCode      string // the description of run_code
	code         string // of its parameter code
	description  string // of its parameter description
}

// RunCodeDescription returns the description of the tool run_code (PROMPT-7).
func RunCodeDescription(languageName string) (string, error) {
	return textOf(languageName, func(t texts) string { return t.runCode })
}

// CodeDescription returns the description of run_code's parameter code (PROMPT-8).
func CodeDescription(languageName string) (string, error) {
	return textOf(languageName, func(t texts) string { return t.code })
}

// DescriptionDescription returns the description of run_code's parameter description (PROMPT-8).
func DescriptionDescription(languageName string) (string, error) {
	return textOf(languageName, func(t texts) string { return t.description })
}

// Instructions returns what stands in front of the fenced declarations of all tools (PROMPT-1 to PROMPT-6), its empty line included.
func Instructions(languageName string) (string, error) {
	return textOf(languageName, func(t texts) string { return t.instructions + introduction })
}

func textOf(languageName string, pick func(texts) string) (string, error) {
	l, err := languageNamed(languageName)
	if err != nil {
		return "", err
	}
	return pick(l.texts), nil
}

// CodeOnlyRule is the section tools:code-only (PRESENT-5, PROMPT-10): it is stated before the guidance of the single tools, and only where
// it is true.
const CodeOnlyRule = "`run_code` is the only tool that you can call directly; a direct call of any other name fails. " +
	"Every tool that is mentioned below or declared in the SDK is called from inside of a `run_code` program."

// introduction ends the instructions.
const introduction = "\nThese are the declarations:\n\n"

const descriptionText = "What the program does, for the user who watches: one line, active voice, about 5 to 10 words, " +
	"such as `Count open issues per label` or `Rename the draft reports and list them`."

var typeScriptTexts = texts{
	instructions: "## Calling tools: `run_code`\n\n" +
		"The tools below are functions that exist only inside of a program. `run_code` runs one TypeScript program and takes two parameters, " +
		"BOTH required in every call: `code`, the body of an async function, and `description`, one line that says what it does.\n\n" +
		"- Top-level `await` and `return` work. Types are stripped before the run; calls that do not fit the declarations may be refused " +
		"before anything has run. Nothing can be imported; the language's built-ins are there.\n" +
		"- Call a tool with one object: `await tools.name(args)`, or `await tools[\"some-name\"](args)` where the name is no identifier. " +
		"Arguments are plain JSON data. The call yields the declared value itself, already parsed.\n" +
		"- A tool of type `McpResult` answers in blocks: `r.content[0].text` is its text, a string even where it looks like JSON; data, if " +
		"any, is in `r.structuredContent`.\n" +
		"- A call that fails throws a `ToolCallError` at its `await`: `toolName` says which tool, `message` why. Catch it to go on without " +
		"that result.\n" +
		"- Start independent calls that only read together, with `Promise.all`. Calls that change something run alone, in the order in " +
		"which they are made. `await` whatever the next step depends on.\n" +
		"- Only what you `return` or `console.log` comes back to you; everything else stays in the program. So do the whole job in one " +
		"program: loop, filter, join, and return just what matters. Images of successful calls are shown to you after the run, in the " +
		"next step.\n",
	discovery: "- Not every tool is declared here: the index in front of the declarations names them all. To learn how one is called, " +
		"run a program that returns `await sdk.search(\"what it should do\")` (the best matches, each with its declaration) or " +
		"`await sdk.describe(\"its_name\")`. Then call it like any other; do not guess its arguments.\n",
	runCode: "Runs a TypeScript program that can call all available tools. Both arguments are required: `code`, the body of an async " +
		"function with top-level `await` and `return`, and `description`, one line that says what it does. Tools are called as " +
		"`await tools.name(args)`, as the SDK in the system prompt declares them. Only what is returned or printed with `console.log` " +
		"comes back; images of sub-results are attached after the run.",
	code: "The program: the body of an async TypeScript function. `return` what should come back.",

	description: descriptionText,
}

var pythonTexts = texts{
	instructions: "## Calling tools: `run_code`\n\n" +
		"The tools below are functions that exist only inside of a program. `run_code` runs one Python program and takes two parameters, " +
		"BOTH required in every call: `code`, the body of an async function, and `description`, one line that says what it does.\n\n" +
		"- Top-level `await` and `return` work. Of the names declared below only `tools` and `ToolCallError` exist when the program runs: the " +
		"classes are static stubs, arguments are plain dicts and lists, and constructing a stub raises `NameError`.\n" +
		"- Call a tool with one dict: `await tools.name(args)`, or `await tools[\"some-name\"](args)` where the name is no identifier, is a " +
		"reserved word or begins with an underscore. Arguments are plain JSON data. The call yields the declared value itself, already parsed.\n" +
		"- A tool of type `McpResult` answers in blocks: `r[\"content\"][0][\"text\"]` is its text, a string even where it looks like " +
		"JSON; data, if any, is in `r[\"structuredContent\"]`.\n" +
		"- A call that fails raises a `ToolCallError` at its `await`: `toolName` says which tool, its message why. Catch it to go on " +
		"without that result.\n" +
		"- Start independent calls that only read together, with `asyncio.gather`. Calls that change something run alone, in the order in " +
		"which they are made. `await` whatever the next step depends on.\n" +
		"- Only what you `return` or `print` comes back to you; everything else stays in the program. So do the whole job in one program: " +
		"loop, filter, join, and return just what matters. Images of successful calls are shown to you after the run, in the next step.\n",
	discovery: "- Not every tool is declared here: the index in front of the declarations names them all. To learn how one is called, " +
		"run a program that returns `await sdk.search(\"what it should do\")` (the best matches, each with its declaration) or " +
		"`await sdk.describe(\"its_name\")`; `sdk` exists when the program runs, too. Then call it like any other; do not guess its arguments.\n",
	runCode: "Runs a Python program that can call all available tools. Both arguments are required: `code`, the body of an async function " +
		"with top-level `await` and `return`, and `description`, one line that says what it does. Tools are called as " +
		"`await tools.name(args)`, as the stubs in the system prompt declare them. Only what is returned or printed with `print` comes " +
		"back; images of sub-results are attached after the run.",
	code: "The program: the body of an async Python function. `return` what should come back.",

	description: descriptionText,
}
