package card

// This file seals the views: which types are cards, and their tags.

// Card returns "generic".
func (GenericCall) Card() string { return "generic" }

// Card returns "terminal".
func (TerminalCall) Card() string { return "terminal" }

// Card returns "diff".
func (DiffCall) Card() string { return "diff" }

// Card returns "generic".
func (GenericResult) Card() string { return "generic" }

// Card returns "terminal".
func (TerminalResult) Card() string { return "terminal" }

// Card returns "diff".
func (DiffResult) Card() string { return "diff" }

// Card returns "search".
func (SearchMatches) Card() string { return "search" }

// Card returns "search".
func (SearchPaths) Card() string { return "search" }

// Card returns "read".
func (ReadResult) Card() string { return "read" }

// Card returns "web".
func (WebSearch) Card() string { return "web" }

// Card returns "web".
func (WebFetch) Card() string { return "web" }

// MarshalJSON writes the object that JSON returns.
func (v GenericCall) MarshalJSON() ([]byte, error) { return v.JSON().JSON(), nil }

// MarshalJSON writes the object that JSON returns.
func (v TerminalCall) MarshalJSON() ([]byte, error) { return v.JSON().JSON(), nil }

// MarshalJSON writes the object that JSON returns.
func (v DiffCall) MarshalJSON() ([]byte, error) { return v.JSON().JSON(), nil }

// MarshalJSON writes the object that JSON returns.
func (v GenericResult) MarshalJSON() ([]byte, error) { return v.JSON().JSON(), nil }

// MarshalJSON writes the object that JSON returns.
func (v TerminalResult) MarshalJSON() ([]byte, error) { return v.JSON().JSON(), nil }

// MarshalJSON writes the object that JSON returns.
func (v DiffResult) MarshalJSON() ([]byte, error) { return v.JSON().JSON(), nil }

// MarshalJSON writes the object that JSON returns.
func (v SearchMatches) MarshalJSON() ([]byte, error) { return v.JSON().JSON(), nil }

// MarshalJSON writes the object that JSON returns.
func (v SearchPaths) MarshalJSON() ([]byte, error) { return v.JSON().JSON(), nil }

// MarshalJSON writes the object that JSON returns.
func (v ReadResult) MarshalJSON() ([]byte, error) { return v.JSON().JSON(), nil }

// MarshalJSON writes the object that JSON returns.
func (v WebSearch) MarshalJSON() ([]byte, error) { return v.JSON().JSON(), nil }

// MarshalJSON writes the object that JSON returns.
func (v WebFetch) MarshalJSON() ([]byte, error) { return v.JSON().JSON(), nil }

func (GenericCall) callView()  {}
func (TerminalCall) callView() {}
func (DiffCall) callView()     {}

func (GenericResult) resultView()  {}
func (TerminalResult) resultView() {}
func (DiffResult) resultView()     {}
func (SearchMatches) resultView()  {}
func (SearchPaths) resultView()    {}
func (ReadResult) resultView()     {}
func (WebSearch) resultView()      {}
func (WebFetch) resultView()       {}
