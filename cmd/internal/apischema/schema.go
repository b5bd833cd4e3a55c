package main

import (
	"strings"

	"fulmen/daemon/api"
)

// about explains the schema to whoever reads nothing else.
const about = `The local API of Fulmen. The schema itself describes one text message of the WebSocket, in either direction. ` +
	`x-methods and x-notifications are what a local client calls and is sent, x-peer-methods and x-peer-notifications what members of a cluster are: ` +
	`the class that a caller needs, the schema of params and result, and the notification that follows the result. ` +
	`x-kinds are the kinds of document, x-codes and x-reasons the groups and the keys of errors (a reason with a severity is also a health condition, one with absent stands for fields that a document lacks), ` +
	`x-limits the numbers that both sides of a connection keep to. ` +
	`Beside a number, x-unit is its unit. Beside an enum, x-words says what its words mean; a newer version may have more of them, and a reader keeps a word that it does not know. ` +
	`Beside a value that is passed on as it was signed, x-holds is what this version writes there. ` +
	`Unknown fields are refused in the parameters of local methods and kept everywhere else; a structure that stands in both has two definitions, such as Program and ProgramParams.`

// schemaID names the schema; nothing is served under it.
const schemaID = "urn:fulmen:api"

// schema is the JSON Schema of the whole API.
func (c *contract) schema() []byte {
	return encode(object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", schemaID},
		{"title", "Fulmen API"},
		{"description", about},
		{"$ref", "#/$defs/Message"},
		{"x-methods", c.methodTable(api.Methods(), true)},
		{"x-notifications", c.notificationTable(api.Notifications())},
		{"x-peer-methods", c.methodTable(api.PeerMethods(), false)},
		{"x-peer-notifications", c.notificationTable(api.PeerNotifications())},
		{"x-kinds", c.kindTable()},
		{"x-codes", c.codeTable()},
		{"x-reasons", reasonTable()},
		{"x-limits", limitTable()},
		{"$defs", c.definitions()},
	}, "  ")
}

func (c *contract) methodTable(all []api.MethodInfo, strict bool) object {
	var out object
	for _, m := range all {
		row := object{{"class", string(m.Class)}, {"params", ref(c.name(m.Params, strict))}, {"result", ref(c.name(m.Result, false))}}
		out = out.with(m.Name, row.withText("notifies", m.Notifies).with("description", m.Doc))
	}
	return out
}

func (c *contract) notificationTable(all []api.NotificationInfo) object {
	var out object
	for _, n := range all {
		out = out.with(n.Name, object{{"params", ref(c.name(n.Params, false))}, {"description", n.Doc}})
	}
	return out
}

func (c *contract) kindTable() object {
	var out object
	for _, k := range api.Kinds() {
		out = out.with(string(k.Kind), object{{"value", ref(c.name(k.Value, false))}, {"name", string(k.Name)},
			{"replicated", k.Replicated}, {"persisted", k.Persisted}, {"live", k.Live}, {"description", c.docOf(k.Kind)}})
	}
	return out
}

func (c *contract) codeTable() object {
	var out object
	for _, code := range api.Codes() {
		out = out.with(code.String(), object{{"code", int(code)}, {"description", c.docOf(code)}})
	}
	return out
}

func reasonTable() object {
	var out object
	for _, r := range api.Reasons() {
		var row object
		if r.Code != 0 {
			row = row.with("code", int(r.Code))
		}
		row = row.withText("severity", string(r.Severity))
		if r.Unknown {
			row = row.with("absent", true)
		}
		out = out.with(string(r.Reason), row.with("text", r.Text).withText("remedy", r.Remedy))
	}
	return out
}

func limitTable() object {
	return object{{"message_bytes", api.MaxMessageBytes}, {"batch", api.MaxBatch}, {"value_bytes", api.MaxValueBytes},
		{"spec_bytes", api.MaxSpecBytes}, {"unread_s", api.WriteDeadline.Seconds()}}
}

// definitions are all types by name: words, enums, structs, and the few that
// have no type of their own in Go.
func (c *contract) definitions() object {
	var out object
	for _, w := range words() {
		out = out.with(w.Type.Name(), c.wordDefinition(w))
	}
	for _, p := range plainTypes() {
		out = out.with(p.Name, p.schema.with("description", p.Doc))
	}
	for _, t := range c.enumTypes() {
		out = out.with(t.Name(), c.enumDefinition(t))
	}
	for _, d := range c.structs() {
		out = out.with(d.Name, c.structDefinition(d))
	}
	return append(out, messages()...)
}

// messages are the forms of a message around requests and responses.
func messages() object {
	list := func(name string) object {
		return object{{"type", "array"}, {"items", ref(name)}, {"minItems", 1}, {"maxItems", api.MaxBatch}}
	}
	return object{{"Message", object{
		{"description", "One text message: a request, a notification (a request without id, from the daemon) or a response, or a batch of requests or responses."},
		{"anyOf", []any{ref("Request"), ref("Response"), list("Request"), list("Response")}},
	}}}
}

// paragraphs is a comment as text: lines joined, paragraphs kept.
func paragraphs(comment string) string {
	var out []string
	for p := range strings.SplitSeq(strings.TrimSpace(comment), "\n\n") {
		out = append(out, strings.Join(strings.Fields(p), " "))
	}
	return strings.Join(out, "\n\n")
}
