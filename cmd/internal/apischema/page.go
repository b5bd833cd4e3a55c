package main

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"fulmen/cmd/internal/apidoc/model"
	"fulmen/daemon/api"
)

// The lines of a page between which a table is written.
const (
	tableBegin = "<!-- table: %s; written by `go generate ./daemon/api` -->\n"
	tableEnd   = "<!-- end of table -->\n"
)

// page puts the tables into a page that people write.
func (c *contract) page(old []byte) ([]byte, error) {
	out := old
	for _, t := range []struct{ name, text string }{
		{"codes", c.codeRows()}, {"methods", methodRows(api.Methods())}, {"notifications", notificationRows(api.Notifications())},
	} {
		begin := fmt.Appendf(nil, tableBegin, t.name)
		before, rest, found := bytes.Cut(out, begin)
		_, after, ended := bytes.Cut(rest, []byte(tableEnd))
		if !found || !ended {
			return nil, fmt.Errorf("the page has no place for the table %q: a line %q and below it %q", t.name, begin, tableEnd)
		}
		out = bytes.Join([][]byte{before, begin, []byte(t.text), []byte(tableEnd), after}, nil)
	}
	return out, nil
}

// advice is what a program does about an error by its code.
func advice() map[api.Code]string {
	return map[api.Code]string{
		api.CodeInvalid:         "Mend the request; the same again fails again.",
		api.CodeNotFound:        "Look again what there is: a list method of the same group tells.",
		api.CodeConflict:        "Read the present state, decide anew, and call again if it still makes sense.",
		api.CodeDenied:          "Do not repeat; the reason says what would be needed. `admin_required`: call over the Unix socket as an administrator.",
		api.CodeUnauthenticated: "Get a token, connect again.",
		api.CodeUnreachable:     "Try again later, waiting longer each time; `subject` names who did not answer.",
		api.CodeDeadline:        "See `waiting_for`. Before repeating what changes something, look whether it happened.",
		api.CodeExhausted:       "Do less at once, or wait. `lagged`: take a new snapshot.",
		api.CodePrecondition:    "Show `remedy` to a person: something has to be put right first.",
		api.CodeUnsupported:     "Do without it on this machine.",
		api.CodeCancelled:       "Nothing: somebody wanted it.",
		api.CodeInternal:        "Report it; `fulmen report` collects what is needed.",
	}
}

func (c *contract) codeRows() string {
	docs := c.src.Words(reflect.TypeFor[api.Code]())
	var out strings.Builder
	head(&out, "code", "name", "what it is", "what a program does")
	for _, code := range api.Codes() {
		row(&out, codeText(code), "`"+code.String()+"`", docs[codeText(code)], advice()[code])
	}
	return out.String()
}

func methodRows(all []api.MethodInfo) string {
	var out strings.Builder
	head(&out, "method", "class", "params", "result", "then", "what")
	for _, m := range all {
		then := ""
		if m.Notifies != "" {
			then = "`" + m.Notifies + "`"
		}
		row(&out, "`"+m.Name+"`", string(m.Class), typeLink(m.Params), typeLink(m.Result), then, m.Doc)
	}
	return out.String()
}

func notificationRows(all []api.NotificationInfo) string {
	var out strings.Builder
	head(&out, "notification", "params", "what")
	for _, n := range all {
		row(&out, "`"+n.Name+"`", typeLink(n.Params), n.Doc)
	}
	return out.String()
}

// typeLink leads to a struct in the reference; one without fields is {}.
func typeLink(t reflect.Type) string {
	if t.NumField() == 0 {
		return "{}"
	}
	return "[" + t.Name() + "](reference.md#" + model.Anchor(t) + ")"
}

func head(out *strings.Builder, heads ...string) {
	row(out, heads...)
	out.WriteString("|" + strings.Repeat(" --- |", len(heads)) + "\n")
}

// row writes a line of a table; a bar in a cell would end it.
func row(out *strings.Builder, cells ...string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", "\\|")
	}
	out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}
