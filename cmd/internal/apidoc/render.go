package main

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// page is the reference being written.
type page struct {
	bytes.Buffer
	src     *source
	structs map[string]reflect.Type
	enums   map[string]reflect.Type
}

// render makes the reference from the source in a folder.
func render(dir string) ([]byte, error) {
	src, err := readSource(dir)
	if err != nil {
		return nil, err
	}
	p := &page{src: src, structs: map[string]reflect.Type{}, enums: map[string]reflect.Type{}}
	p.collect()
	p.line("# Reference")
	p.line("")
	p.line("<!-- Written by `go generate ./daemon/api`; edit the comments there. -->")
	p.line("")
	p.line("Every kind of document, method, error and fixed name of this version. [contracts.md](contracts.md) has the rules behind them.")
	p.line("Fields marked ○ may be absent; an absent fact has its reason in the document's `unknown`. Units are in the names.")
	p.ids()
	p.kinds()
	p.methods("Methods", "Local clients call these. The class says who may.", api.Methods())
	p.notifications("Notifications", api.Notifications())
	p.methods("Methods of peers", "Members of the cluster call these on each other, and no others.", api.PeerMethods())
	p.notifications("Notifications of peers", api.PeerNotifications())
	p.errors()
	p.phases()
	p.structTypes()
	p.enumTypes()
	p.constants()
	text := regexp.MustCompile(`\n{3,}`).ReplaceAll(p.Bytes(), []byte("\n\n"))
	return append(bytes.TrimSpace(text), '\n'), nil
}

func (p *page) line(format string, args ...any) {
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	p.WriteString(format + "\n")
}

// row writes a line of a table; a bar in a cell would end it.
func (p *page) row(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", "\\|")
	}
	p.line("| %s |", strings.Join(cells, " | "))
}

func (p *page) table(heads ...string) {
	p.line("")
	p.row(heads...)
	p.line("|%s", strings.Repeat(" --- |", len(heads)))
}

func (p *page) heading(level int, t reflect.Type, text string) {
	p.line("")
	if t != nil {
		p.line(`<a id="%s"></a>`, anchor(t))
		p.line("")
	}
	p.line("%s %s", strings.Repeat("#", level), text)
	p.line("")
}

// comment writes a type's comment as paragraphs, its diagrams kept.
func (p *page) comment(t reflect.Type) {
	text := strings.TrimSpace(p.src.types[t.Name()])
	p.line("%s", strings.ReplaceAll(text, "\n\t", "\n    "))
}

func (p *page) fields(t reflect.Type) {
	fields := p.src.fieldsOf(t)
	if len(fields) == 0 {
		return
	}
	p.table("field", "type", "unit", "what")
	for _, f := range fields {
		name := "`" + f.name + "`"
		if f.optional {
			name += " ○"
		}
		p.row(name, f.typ, f.unit, f.doc)
	}
}

func (p *page) collect() {
	all := []reflect.Type{reflect.TypeFor[api.Document](), reflect.TypeFor[api.JobSpec](), reflect.TypeFor[api.Error](),
		reflect.TypeFor[api.Request](), reflect.TypeFor[api.Response](), reflect.TypeFor[api.PeerConn](),
		reflect.TypeFor[api.APIAddress](), reflect.TypeFor[api.MethodClass](), reflect.TypeFor[api.NameRule](),
		reflect.TypeFor[api.Severity]()}
	for _, k := range api.Kinds() {
		all = append(all, k.Value)
	}
	for _, m := range slices.Concat(api.Methods(), api.PeerMethods()) {
		all = append(all, m.Params, m.Result)
	}
	for _, n := range slices.Concat(api.Notifications(), api.PeerNotifications()) {
		all = append(all, n.Params)
	}
	for _, t := range all {
		collect(t, p.structs, p.enums)
	}
}

func (p *page) ids() {
	p.heading(2, nil, "Ids and other single words")
	for _, t := range idTypes() {
		p.heading(3, t, t.Name())
		p.comment(t)
	}
}

func (p *page) structTypes() {
	p.heading(2, nil, "Structures")
	for _, name := range slices.Sorted(maps.Keys(p.structs)) {
		t := p.structs[name]
		if p.isKindValue(t) {
			continue
		}
		p.heading(3, t, name)
		p.comment(t)
		p.fields(t)
	}
}

func (p *page) isKindValue(t reflect.Type) bool {
	return slices.ContainsFunc(api.Kinds(), func(k api.KindInfo) bool { return k.Value == t })
}

func (p *page) enumTypes() {
	p.heading(2, nil, "Sets of words")
	for _, name := range slices.Sorted(maps.Keys(p.enums)) {
		t := p.enums[name]
		p.heading(3, t, name)
		p.comment(t)
		p.table("word", "what")
		docs := p.src.words(name)
		for _, w := range reflect.Zero(t).Interface().(api.Enum).Values() {
			p.row("`"+w+"`", docs[w])
		}
	}
}
