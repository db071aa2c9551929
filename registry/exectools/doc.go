// Package exectools makes tools out of what is at hand: a manifest file that declares commands, HTTP requests and constants
// ([LoadManifest]), and the files below a folder ([ReadFiles], [WriteFiles]).
//
// What a program passes to such a tool is hostile. Arguments are checked against the tool's JSON Schema before anything happens; they
// become arguments of a command or parts of an address as they are, never a shell's text or another option; a path never leads out of
// its folder, whatever symbolic links and races are tried; output is capped; a cancelled call leaves no process behind.
package exectools
