package main

import (
	"reflect"
	"strconv"
	"strings"

	"fulmen/cmd/internal/apidoc/model"
	"fulmen/daemon/api"
)

func (p *page) kinds() {
	p.heading(2, nil, "Kinds of document")
	p.line("The envelope of all is [Document](#type-document).")
	p.table("kind", "name", "sent to members", "outlives a restart", "moves only while watched")
	for _, k := range api.Kinds() {
		p.row("["+string(k.Kind)+"](#"+model.Anchor(k.Value)+")", string(k.Name), tick(k.Replicated), tick(k.Persisted), tick(k.Live))
	}
	for _, k := range api.Kinds() {
		p.heading(3, k.Value, string(k.Kind))
		p.comment(k.Value)
		p.fields(k.Value)
	}
}

func tick(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}

func (p *page) methods(title, about string, all []api.MethodInfo) {
	p.heading(2, nil, title)
	p.line(about)
	group := ""
	for _, m := range all {
		if g, _, _ := strings.Cut(m.Name, "."); g != group {
			group = g
			p.heading(3, nil, group)
			p.table("method", "class", "params", "result", "what")
		}
		what := m.Doc
		if m.Notifies != "" {
			what += " Followed by `" + m.Notifies + "`."
		}
		p.row("`"+m.Name+"`", string(m.Class), objectText(m.Params), objectText(m.Result), what)
	}
}

// objectText is a link to a struct, and {} for one without fields.
func objectText(t reflect.Type) string {
	if t.NumField() == 0 {
		return "{}"
	}
	return link(t)
}

func (p *page) notifications(title string, all []api.NotificationInfo) {
	p.heading(2, nil, title)
	p.table("notification", "params", "what")
	for _, n := range all {
		p.row("`"+n.Name+"`", link(n.Params), n.Doc)
	}
}

func (p *page) errors() {
	p.heading(2, nil, "Errors")
	p.line("The code says what a program does next, the reason says exactly what it is. A call's error is [Error](#type-error).")
	p.table("code", "name", "what")
	docs := p.src.Words(reflect.TypeFor[api.Code]())
	for _, c := range api.Codes() {
		n := strconv.Itoa(int(c))
		p.row(n, "`"+c.String()+"`", docs[n])
	}
	p.heading(3, nil, "Reasons")
	p.line("One table for errors, health conditions (severity), and absent fields (○).")
	p.table("reason", "code", "severity", "absent", "text", "remedy")
	for _, r := range api.Reasons() {
		code, absent := "", ""
		if r.Code != 0 {
			code = strconv.Itoa(int(r.Code)) + " " + r.Code.String()
		}
		if r.Unknown {
			absent = "○"
		}
		p.row("`"+string(r.Reason)+"`", code, string(r.Severity), absent, r.Text, r.Remedy)
	}
}

func (p *page) phases() {
	p.heading(2, nil, "Phases")
	p.heading(3, nil, "Of a job")
	p.table("phase", "what", "next")
	docs := p.src.Words(reflect.TypeFor[api.JobPhase]())
	for _, i := range api.JobPhases() {
		p.row("`"+string(i.Phase)+"`", docs[string(i.Phase)], nextText(i.Next))
	}
	p.heading(3, nil, "Of a rank")
	p.table("phase", "what", "next")
	docs = p.src.Words(reflect.TypeFor[api.RankPhase]())
	for _, i := range api.RankPhases() {
		p.row("`"+string(i.Phase)+"`", docs[string(i.Phase)], nextText(i.Next))
	}
}

func nextText[P ~string](next []P) string {
	if len(next) == 0 {
		return "(end)"
	}
	words := make([]string, len(next))
	for i, n := range next {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}

// constants writes the fixed names and numbers, by the file that they are in.
func (p *page) constants() {
	p.heading(2, nil, "Fixed names and numbers")
	for _, file := range []struct{ name, title string }{
		{"protocol.go", "Protocols, ports and paths"}, {"times.go", "Times"}, {"limits.go", "Limits"},
		{"exit_status.go", "Exit status"}, {"env.go", "Environment variables"}, {"folders.go", "Folders and files"},
		{"macos.go", "Names on macOS"}, {"message.go", "Codes that JSON-RPC reserves"},
	} {
		p.heading(3, nil, file.title)
		for _, b := range p.src.Blocks(file.name) {
			p.line("%s", b.Doc)
			p.table("name", "value", "what")
			for _, c := range b.Consts {
				p.row(c.Name, "`"+c.Value+"`", model.WithoutName(c.Name, c.Doc))
			}
			p.line("")
		}
	}
}
