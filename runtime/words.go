package runtime

// This file defines what the words of TypeScript mean to the scanner and the guard.

// word is a name's role; wordNone for ordinary names.
type word uint8

const (
	wordNone word = iota

	// These start or continue an expression: a regular expression may follow.
	wordPrefix  // await delete new throw typeof void yield keyof infer asserts unique readonly
	wordInfix   // as extends implements in instanceof is of satisfies
	wordReturn  // return
	wordCase    // case
	wordElse    // else
	wordDo      // do
	wordFollows // catch finally: continue a statement

	// Heads: `(` and then a statement follow.
	wordFor
	wordIf
	wordWhile
	wordWith

	// Statements and declarations.
	wordSwitch
	wordTry
	wordFunction
	wordClass
	wordEnum
	wordNamespace // namespace module
	wordDeclare   // abstract declare
	wordVariable  // const let var using
	wordType      // interface type
	wordImport
	wordExport
	wordDefault
	wordAsync
	wordModifier // accessor get set static public private protected override
	wordThis     // this null true false super
)

// wordOf returns the role of a name.
func wordOf(name string) word {
	if len(name) < 2 || len(name) > 10 {
		return wordNone
	}
	switch name {
	case "as", "extends", "implements", "in", "instanceof", "is", "of", "satisfies":
		return wordInfix
	case "await", "delete", "new", "throw", "typeof", "void", "yield", "keyof", "infer", "asserts", "unique", "readonly":
		return wordPrefix
	case "return":
		return wordReturn
	case "case":
		return wordCase
	case "else":
		return wordElse
	case "do":
		return wordDo
	case "catch", "finally":
		return wordFollows
	case "for":
		return wordFor
	case "if":
		return wordIf
	case "while":
		return wordWhile
	case "with":
		return wordWith
	case "switch":
		return wordSwitch
	case "try":
		return wordTry
	case "function":
		return wordFunction
	case "class":
		return wordClass
	case "enum":
		return wordEnum
	case "namespace", "module":
		return wordNamespace
	case "abstract", "declare":
		return wordDeclare
	case "const", "let", "var", "using":
		return wordVariable
	case "interface", "type":
		return wordType
	case "import":
		return wordImport
	case "export":
		return wordExport
	case "default":
		return wordDefault
	case "async":
		return wordAsync
	case "accessor", "get", "set", "static", "public", "private", "protected", "override":
		return wordModifier
	case "this", "null", "true", "false", "super":
		return wordThis
	}
	return wordNone
}

// beforeExpression reports whether a slash behind the word can only start a regular expression. A member of such a
// name, `x.in`, is not asked; `{ return: 1 }` and the like have no slash behind them.
func (w word) beforeExpression() bool {
	switch w {
	case wordReturn, wordCase, wordElse, wordDo, wordFor, wordIf, wordWhile, wordWith:
		return true
	}
	return false
}

// maybeBeforeExpression reports whether the word is a keyword only in some places, as `await` and `of` are.
func (w word) maybeBeforeExpression() bool {
	switch w {
	case wordPrefix, wordInfix, wordAsync, wordModifier, wordType, wordDeclare, wordNamespace:
		return true
	}
	return false
}

// isHead reports whether parentheses and then a statement follow the word.
func (w word) isHead() bool {
	switch w {
	case wordFor, wordIf, wordWhile, wordWith:
		return true
	}
	return false
}
