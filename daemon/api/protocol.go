package api

import _ "embed" // for the schema

// Protocols. A version n talks to n and n-1; fields and kinds that it does not
// know are kept and passed on. Protocol 2 proves who may act for a job; jobs of
// protocol 1 are refused.
const (
	// Protocol is the newest peer protocol that this version speaks.
	Protocol = 2
	// ProtocolMin is the oldest.
	ProtocolMin = 1
	// ALPN is what TLS between peers negotiates.
	ALPN = "fulmen/1"
	// JSONRPCVersion is the value of jsonrpc in every message.
	JSONRPCVersion = "2.0"
	// ServiceType is the DNS-SD type announced.
	ServiceType = "_fulmen._tcp"
)

// Ports, both TCP. Where one is taken the next free one is used, and written
// to APIFile and to the runtime folder; 0 in the configuration means any.
const (
	// APIPort is the local API's, on 127.0.0.1 only.
	APIPort = 7731
	// PeerPort is the one for peers.
	PeerPort = 7732
	// EndpointPort is where a Mac answers for all services of its cluster.
	EndpointPort = 7733
)

// Paths of the local HTTP server. There are no others.
const (
	// PathAPI is the WebSocket of the API.
	PathAPI = "/v1"
	// PathSchema is the JSON Schema of the API.
	PathSchema = "/schema"
	// PathOpenAPI is the same for the API over HTTP.
	PathOpenAPI = PathAPI + "/openapi.json"
	// PathInstances and PathWatch are the methods about instances, and state.watch as a stream.
	PathInstances = PathAPI + "/instances"
	PathWatch     = PathAPI + "/watch"
	// PathDashboard is the dashboard's page.
	PathDashboard = "/"
	// PathAssets is the folder of what the page loads.
	PathAssets = "/assets/"
	// PathMetrics is for Prometheus; with a token, or over the Unix socket.
	PathMetrics = "/metrics"
)

// LinkScheme is the scheme of the links by which the dashboard hands an action
// that needs an administrator to the app.
const LinkScheme = "fulmen"

//go:embed schema.json
var schema string

// Schema is the JSON Schema of the API, made from this package by `go generate`: one
// document of JSON Schema 2020-12, in UTF-8. What it says is what the types and tables
// here say; its description explains the parts that are not JSON Schema's own. The daemon
// serves it under [PathSchema].
func Schema() []byte { return []byte(schema) }
