package card

import "strings"

// languages are the hints for highlighting, by lower-cased extension (CARD-46).
var languages = map[string]string{
	"bash": "bash", "c": "c", "cc": "cpp", "cpp": "cpp", "cs": "csharp", "css": "css", "diff": "diff", "go": "go", "h": "c",
	"hpp": "cpp", "html": "html", "java": "java", "js": "javascript", "json": "json", "jsx": "jsx", "kt": "kotlin", "lua": "lua",
	"md": "markdown", "mjs": "javascript", "php": "php", "proto": "protobuf", "py": "python", "rb": "ruby", "rs": "rust",
	"scala": "scala", "scss": "scss", "sh": "bash", "sql": "sql", "swift": "swift", "tf": "hcl", "toml": "toml", "ts": "typescript",
	"tsx": "tsx", "vue": "vue", "xml": "xml", "yaml": "yaml", "yml": "yaml", "zig": "zig",
}

// Lang returns the hint for a file's highlighting, by the extension of its name; "" for a name without a dot, one that begins
// with its only dot, and an extension that is not in the table.
func Lang(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 {
		return ""
	}
	return languages[strings.ToLower(name[dot+1:])]
}
