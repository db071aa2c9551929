package gojaengine

import _ "embed"

// shimName is the name of shim.js in stacks, where no frame of it is shown.
const shimName = "shim.js"

//go:embed shim.js
var shimSource string
