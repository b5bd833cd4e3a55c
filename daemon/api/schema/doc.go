// Package schema holds the JSON Schema of the API, made from package api by
// `go generate`. It owns no rule of its own: what the schema says is what the
// types and tables of package api say. The daemon serves it under
// api.PathSchema; its description explains the parts that are not JSON Schema's own.
package schema
