// Package gateway serves a registry to MCP clients: run_code, the tools themselves, or both, exactly as the registry presents
// them to a model.
//
// A harness makes everything in this order, so that what a client asked for travels with its call:
//
//	sdk := gateway.SDKOptions(sdkgen.Options{}, 0)
//	b, err := bridge.New(bridge.Options{Engine: engine, SDK: sdk, PerRun: gateway.PerRun})
//	reg, err := registry.New(registry.Options{Mode: registry.Code, Transport: b, Approver: gateway.Approver(nil)})
//	// register the tools
//	g, err := gateway.New(gateway.Options{Registry: reg, SDK: sdk})
//	err = g.ServeStdio(ctx, os.Stdin, os.Stdout)
//
// Each call of a client is one execution in the registry. What it comes to is a result: a failed program or a failed tool is a
// result with isError, and only a request that cannot be understood is a protocol error (GATE-5). Clients are not trusted: what
// they send is checked before anything acts on it, and what is kept for them is bounded.
package gateway
