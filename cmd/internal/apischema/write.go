package main

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"fulmen/daemon/api"
)

//go:embed *.tmpl
var templates embed.FS

// typeScript is the types of what a local client meets. What peers say to each
// other is left out: no client can.
func (c *contract) typeScript() []byte { return c.written("types.ts.tmpl") }

// reference is docs/reference.md.
func (c *contract) reference() []byte {
	text := regexp.MustCompile(`\n{3,}`).ReplaceAll(c.written("reference.md.tmpl"), []byte("\n\n"))
	return append(bytes.TrimSpace(text), '\n')
}

// written is what a template makes of the contract. It panics where the template is wrong.
func (c *contract) written(name string) []byte {
	functions := template.FuncMap{
		"kinds": api.Kinds, "codes": api.Codes, "reasons": api.Reasons, "jobPhases": api.JobPhases, "rankPhases": api.RankPhases,
		"methods": api.Methods, "notifications": api.Notifications,
		"peerMethods": api.PeerMethods, "peerNotifications": api.PeerNotifications,
		"words": words, "plains": plainTypes, "enums": c.enumTypes, "structures": c.structures, "structs": c.structs,
		"met": func(t reflect.Type) bool { return c.clients[t.Name()] },
		"doc": c.src.Doc, "docs": c.src.Words, "docOf": c.docOf, "fields": c.src.Fields, "blocks": c.src.Blocks,
		"values": valuesOf, "withoutName": withoutName, "anchor": anchor, "link": link, "objectText": objectText,
		"typeText": typeText, "unitText": unitText, "advice": func(c api.Code) string { return advice()[c] },
		"cell":     func(text string) string { return strings.ReplaceAll(text, "|", `\|`) }, // a bar would end the cell
		"indented": func(text string) string { return strings.ReplaceAll(text, "\n\t", "\n    ") },
		"group":    func(method string) string { return method[:strings.IndexByte(method, '.')] },
		"comment":  comment, "alias": alias, "name": c.name, "optional": optional, "fieldType": c.fieldType,
		"enumText": c.enumText,
		"sortedReasons": func() []api.ReasonInfo {
			return slices.SortedFunc(slices.Values(api.Reasons()), func(a, b api.ReasonInfo) int { return cmp.Compare(a.Reason, b.Reason) })
		},
	}
	var out bytes.Buffer
	if err := template.Must(template.New("").Funcs(functions).ParseFS(templates, "*.tmpl")).ExecuteTemplate(&out, name, nil); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// docOf is the comment of the constant that a word or a code is.
func (c *contract) docOf(v any) string {
	key := fmt.Sprint(v)
	if code, ok := v.(api.Code); ok {
		key = codeText(code)
	}
	return c.src.Words(reflect.TypeOf(v))[key]
}

// structures are the structs that are not values of documents, by name.
func (c *contract) structures() []reflect.Type {
	return slices.DeleteFunc(sorted(c.all.Structs), func(t reflect.Type) bool {
		return slices.ContainsFunc(api.Kinds(), func(k api.KindInfo) bool { return k.Value == t })
	})
}

// link leads to a type's place in the reference, seen from another page or from itself.
func link(from string, t reflect.Type) string {
	return "[" + t.Name() + "](" + from + "#" + anchor(t) + ")"
}

// objectText is a link to a struct; one without fields is {}.
func objectText(from string, t reflect.Type) string {
	if t.NumField() == 0 {
		return "{}"
	}
	return link(from, t)
}

// unitText is a unit in the words of the reference.
func unitText(suffix string) string {
	return cmp.Or(map[string]string{"bytes_per_s": "bytes/s", "bits_per_s": "bits/s", "us": "µs", "tflops": "TFLOPS",
		"watts": "W", "celsius": "°C", "hz": "Hz", "ratio": "0 to 1"}[suffix], suffix)
}

// typeText is a type in the words of the reference, with links to its parts.
func typeText(t reflect.Type) string {
	return spelling[string]{
		plain:  func(p plainType) string { return p.words },
		named:  func(t reflect.Type) string { return link("", t) },
		list:   func(element string) string { return "list of " + element },
		values: func(element string) string { return "object, values " + element },
		json:   "JSON", boolean: "boolean", number: "number", integer: "integer", text: "string",
	}.of(t)
}

// comment is a doc comment of TypeScript; an end of comment inside it would end it.
func comment(indent, text string) string {
	text = strings.ReplaceAll(text, "*/", "* /")
	if !strings.Contains(text, "\n") {
		return indent + "/** " + text + " */\n"
	}
	out := indent + "/**\n"
	for line := range strings.SplitSeq(text, "\n") {
		out += strings.TrimRight(indent+" * "+line, " ") + "\n"
	}
	return out + indent + " */\n"
}

// alias names a type of TypeScript.
func alias(name, doc, typ string) string {
	return fmt.Sprintf("\n%sexport type %s = %s;\n", comment("", doc), name, typ)
}

// enumText is an enum of TypeScript, its words in its comment.
func (c *contract) enumText(t reflect.Type) string {
	docs, text := c.src.Words(t), c.src.Doc(t)+"\n"
	var words []string
	for _, w := range valuesOf(t) {
		words = append(words, strconv.Quote(w))
		text += "\n- " + w + ": " + docs[w]
	}
	return alias(t.Name(), text, strings.Join(words, " | "))
}

// fieldType is the type of a field in TypeScript. A document is generic in its
// kind, so that a look at the kind tells the type of the value.
func (c *contract) fieldType(f field, strict bool) string {
	switch f.Key() {
	case "Document.Kind":
		return "K"
	case "Document.Value":
		return "KindValues[K]"
	case "Request.ID":
		return "string | number"
	case "Response.ID":
		return "string | number | null"
	case "Request.Params":
		return "object"
	case "Request.JSONRPC", "Response.JSONRPC":
		return strconv.Quote(api.JSONRPCVersion)
	}
	if held := holds()[f.Key()]; held != nil {
		return held.Name()
	}
	return spelling[string]{
		plain:  func(p plainType) string { return p.Name },
		named:  func(t reflect.Type) string { return c.name(t, strict) },
		list:   func(element string) string { return element + "[]" },
		values: func(element string) string { return "Record<string, " + element + ">" },
		json:   "unknown", boolean: "boolean", number: "number", integer: "number", text: "string",
	}.of(f.Type)
}
