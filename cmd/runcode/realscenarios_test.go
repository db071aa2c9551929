package main

// This file lists the scenarios of the conformance suite that two revisions of the protocol require of servers and clients, or run
// besides, and says of those that do not apply why not.

import "maps"

// What keeps a scenario, or a check within one, from applying.
const (
	// The gateway as a server.
	onlyTools      = "the gateway serves tools, and resources of its own: no prompts, no completions, none of the fixture's resources (MCP-19)"
	asksNobody     = "no fronted server may ask the gateway's client for anything: no sampling, elicitation or roots (MCP-19)"
	textAndImages  = "models are shown text and images; of sounds and embedded resources they are told that programs can have them (MCP-31)"
	noServerLogs   = "what fronted servers log is not the client's"
	ownProgress    = "progress is the gateway's own, at the start and then at intervals: fewer than three reports in 150 ms"
	oneAnswer      = "a question about an approval is answered once: what is no approval denies the call (GATE-4)"
	notResumed     = "streams are not resumed, and no tool of a fronted server can end one"
	noParamHeaders = "no schema that the gateway lists asks for Mcp-Param headers: it leaves x-mcp-header out of those of fronted tools"
	inHaste        = "it may come later than the second and a half that the suite waits for it, where the machine is busy"
	noTasks        = "the tasks extension is optional, and the gateway does not announce it"

	// runcode as a client.
	lateDemand    = "the server answers the handshake and demands a login later; runcode mcp login takes the demand from the handshake"
	noExtension   = "an optional extension of authorization, which is not offered"
	noMetadataURL = "runcode has no page on the web that could be its client id: it registers itself, or is registered"
	noAnswers     = "the client announces no elicitation (MCP-19)"
	noSchemas     = "programs get declarations, not the schemas that the scenario wants back"
	handshakeOnly = "the client speaks the revisions up to 2025-11-25, which begin with a handshake"
)

// Each list has the scenarios of one revision: "" where all of it applies and has to pass; otherwise why it doesn't. A check that does
// not apply within a scenario that does stands under "scenario:check". What is listed as not applying must fail, or the list is out
// of date; only what is inHaste may do either.
var (
	serverScenarios = map[string]map[string]string{
		"2025-11-25": with(gatewayScenarios, map[string]string{
			"server-initialize": "", "ping": "", "logging-set-level": "", "server-session-lifecycle": "",
			"tools-call-with-logging":      noServerLogs,
			"tools-call-sampling":          asksNobody,
			"tools-call-elicitation":       asksNobody,
			"elicitation-sep1034-defaults": asksNobody,
			"elicitation-sep1330-enums":    asksNobody,
			"resources-subscribe":          onlyTools,
			"resources-unsubscribe":        onlyTools,
			"server-sse-polling":           notResumed,
		}),
		"2026-07-28": with(gatewayScenarios, map[string]string{
			"caching": "", "sep-2164-resource-not-found": "", "http-header-validation": "",
			"http-custom-header-server-validation": noParamHeaders,

			"server-stateless": "",
			"server-stateless:sep-2575-server-rejects-undeclared-capability":          asksNobody,
			"server-stateless:sep-2575-missing-capability-http-400":                   asksNobody,
			"server-stateless:sep-2575-http-server-no-independent-requests-on-stream": asksNobody,
			"server-stateless:sep-2575-server-no-log-without-loglevel":                noServerLogs,
			"caching:sep-2549-prompts-list-caching-hints":                             onlyTools,

			"server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription": inHaste,

			// The gateway itself asks the person, for an approval: that is what these see (GATE-4).
			"input-required-result-result-type": "", "input-required-result-request-state": "", "input-required-result-tampered-state": "",
			"input-required-result-unsupported-methods": "", "input-required-result-validate-input": "",
			"input-required-result-missing-input-response":  oneAnswer,
			"input-required-result-ignore-extra-params":     oneAnswer,
			"input-required-result-capability-check":        "the fixture's tool would ask for a sample; the gateway denies a call that it cannot ask about (GATE-4)",
			"input-required-result-basic-elicitation":       asksNobody,
			"input-required-result-basic-sampling":          asksNobody,
			"input-required-result-basic-list-roots":        asksNobody,
			"input-required-result-multiple-input-requests": asksNobody,
			"input-required-result-multi-round":             asksNobody,
			"input-required-result-non-tool-request":        onlyTools,

			"tasks-lifecycle": noTasks, "tasks-capability-negotiation": noTasks, "tasks-wire-fields": noTasks, "tasks-mrtr-input": noTasks,
			"tasks-request-state-removal": noTasks, "tasks-request-headers": noTasks, "tasks-dispatch-and-envelope": noTasks,
			"tasks-status-notifications": noTasks, "tasks-required-task-error": noTasks, "tasks-mrtr-composition": noTasks,
		}),
	}

	// gatewayScenarios are those of both revisions.
	gatewayScenarios = map[string]string{
		"tools-list": "", "tools-call-simple-text": "", "tools-call-image": "", "tools-call-error": "", "json-schema-2020-12": "",
		"resources-list": "", "server-sse-multiple-streams": "", "dns-rebinding-protection": "",
		"tools-call-audio":              textAndImages,
		"tools-call-embedded-resource":  textAndImages,
		"tools-call-mixed-content":      textAndImages,
		"tools-call-with-progress":      ownProgress,
		"completion-complete":           onlyTools,
		"resources-read-text":           onlyTools,
		"resources-read-binary":         onlyTools,
		"resources-templates-read":      onlyTools,
		"prompts-list":                  onlyTools,
		"prompts-get-simple":            onlyTools,
		"prompts-get-with-args":         onlyTools,
		"prompts-get-embedded-resource": onlyTools,
		"prompts-get-with-image":        onlyTools,
	}

	clientScenarios = map[string]map[string]string{
		"2025-11-25": with(authScenarios, map[string]string{
			"initialize": "", "tools_call": "", "sse-retry": "",
			"elicitation-sep1034-client-defaults": noAnswers,
			"json-schema-2020-12-preservation":    noSchemas,
		}),
		"2026-07-28": with(authScenarios, map[string]string{
			"tools_call": "", "json-schema-ref-no-deref": "", "http-custom-headers": "",
			"auth/iss-supported": "", "auth/iss-not-advertised": "", "auth/iss-supported-missing": "", "auth/iss-wrong-issuer": "",
			"auth/iss-unexpected": "", "auth/iss-normalized": "", "auth/metadata-issuer-mismatch": "", "auth/resource-mismatch": "",
			"auth/offline-access-scope": "", "auth/offline-access-not-supported": "",
			"json-schema-2020-12-preservation":    noSchemas,
			"sep-2322-client-request-state":       noAnswers,
			"request-metadata":                    handshakeOnly,
			"http-standard-headers":               handshakeOnly,
			"http-invalid-tool-headers":           handshakeOnly,
			"auth/authorization-server-migration": handshakeOnly,
		}),
	}

	// authScenarios are those of both revisions.
	authScenarios = map[string]string{
		"auth/metadata-default": "", "auth/metadata-var1": "", "auth/metadata-var2": "", "auth/metadata-var3": "",
		"auth/scope-from-www-authenticate": "", "auth/scope-from-scopes-supported": "", "auth/scope-omitted-when-undefined": "",
		"auth/pre-registration":          "",
		"auth/token-endpoint-auth-basic": "", "auth/token-endpoint-auth-post": "", "auth/token-endpoint-auth-none": "",
		"auth/scope-step-up":                    lateDemand,
		"auth/scope-retry-limit":                lateDemand,
		"auth/basic-cimd":                       noMetadataURL,
		"auth/client-credentials-jwt":           noExtension,
		"auth/client-credentials-basic":         noExtension,
		"auth/enterprise-managed-authorization": noExtension,
		"auth/dpop":                             noExtension,
		"auth/dpop-nonce":                       noExtension,
		"auth/wif-jwt-bearer":                   noExtension,
	}
)

func with(list, more map[string]string) map[string]string {
	all := maps.Clone(list)
	maps.Copy(all, more)
	return all
}
