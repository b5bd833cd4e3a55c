package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"fulmen/cmd/internal/apidoc/model"
	"fulmen/daemon/api"
)

func main() {
	src := flag.String("src", ".", "`folder` of the source of daemon/api")
	out := flag.String("out", "", "`file` to write")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(*src, *out); err != nil {
		fmt.Fprintln(os.Stderr, "apidoc:", err)
		os.Exit(1)
	}
}

func write(src, out string) error {
	text, err := render(src)
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o644)
}

// page is the reference being written.
type page struct {
	bytes.Buffer
	src   *model.Source
	types model.Types
}

// render makes the reference from the source in a folder.
func render(dir string) ([]byte, error) {
	src, err := model.Read(dir)
	if err != nil {
		return nil, err
	}
	p := &page{src: src, types: model.Collect(roots()...)}
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
		p.line(`<a id="%s"></a>`, model.Anchor(t))
		p.line("")
	}
	p.line("%s %s", strings.Repeat("#", level), text)
	p.line("")
}

// comment writes a type's comment as paragraphs, its diagrams kept.
func (p *page) comment(t reflect.Type) {
	text := p.src.Doc(t)
	p.line("%s", strings.ReplaceAll(text, "\n\t", "\n    "))
}

func (p *page) fields(t reflect.Type) {
	fields := p.src.Fields(t)
	if len(fields) == 0 {
		return
	}
	p.table("field", "type", "unit", "what")
	for _, f := range fields {
		name := "`" + f.Name + "`"
		if f.Optional {
			name += " ○"
		}
		p.row(name, typeText(f.Type), unitText(f.Unit), f.Doc)
	}
}

// roots are the types that the reference explains, with all that lies below them.
func roots() []reflect.Type {
	all := model.Loose()
	for _, k := range api.Kinds() {
		all = append(all, k.Value)
	}
	for _, m := range slices.Concat(api.Methods(), api.PeerMethods()) {
		all = append(all, m.Params, m.Result)
	}
	for _, n := range slices.Concat(api.Notifications(), api.PeerNotifications()) {
		all = append(all, n.Params)
	}
	return all
}

func (p *page) ids() {
	p.heading(2, nil, "Ids and other single words")
	for _, t := range model.WordTypes() {
		p.heading(3, t, t.Name())
		p.comment(t)
	}
}

func (p *page) structTypes() {
	p.heading(2, nil, "Structures")
	for _, name := range slices.Sorted(maps.Keys(p.types.Structs)) {
		t := p.types.Structs[name]
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
	for _, name := range slices.Sorted(maps.Keys(p.types.Enums)) {
		t := p.types.Enums[name]
		p.heading(3, t, name)
		p.comment(t)
		p.table("word", "what")
		docs := p.src.Words(t)
		for _, w := range model.Values(t) {
			p.row("`"+w+"`", docs[w])
		}
	}
}
