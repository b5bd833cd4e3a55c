package show

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Checks writes what was checked, and below what is not well what to do.
func (v View) Checks(w *Page, checks []api.DoctorCheck) {
	table := text.NewTable()
	wrong, end := 0, "Nothing is wrong."
	for _, c := range checks {
		if c.Answer == api.AnswerNo {
			wrong++
			end = fmt.Sprintf("%d of %d checks failed.", wrong, len(checks))
		}
		table.Row(mark(c.Answer, "ok", "wrong"), v.withReason(c.Text, c.Reason))
		if c.Remedy != "" && c.Answer != api.AnswerYes {
			table.Row("", c.Remedy)
		}
	}
	w.Table(table)
	fmt.Fprintf(w, "\n%s\n", end)
}

// Hardware writes what was compared, a line for each fact.
func (v View) Hardware(w *Page, checks []api.DoctorCheck) {
	table := text.NewTable()
	count := map[string]int{}
	for _, c := range checks {
		mark := mark(c.Answer, "agree", "differ")
		count[mark]++
		table.Row(mark, v.withReason(c.Text, c.Reason))
	}
	w.Table(table)
	fmt.Fprintf(w, "\n%d agree, %d differ, %d are unknown.\n", count["agree"], count["differ"], count[text.Unknown])
}

// mark is the mark of a check.
func mark(a api.Answer, yes, no string) string {
	switch a {
	case api.AnswerYes:
		return yes
	case api.AnswerNo:
		return no
	}
	return text.Unknown
}

// reported is the text of a check, on wide screens with the key of its reason.
func (v View) withReason(sentence string, reason api.Reason) string {
	if v.Wide && reason != "" {
		sentence += " (" + string(reason) + ")"
	}
	return sentence
}

// Report writes what a report has, and how much of it was replaced.
func (v View) Report(w *Page, r api.DaemonReportResult) {
	table := text.NewTable("PART", "LINES", "SIZE")
	for _, f := range r.Files {
		table.Row(f.Name, strconv.Itoa(strings.Count(f.Text, "\n")), text.Bytes(int64(len(f.Text))))
	}
	w.Table(table)
	var out []string
	for _, sort := range slices.Sorted(maps.Keys(r.Redacted)) {
		out = append(out, fmt.Sprintf("%s %d times", text.Clean(sort), r.Redacted[sort]))
	}
	if len(out) == 0 {
		out = []string{"nothing"}
	}
	fmt.Fprintf(w, "\nReplaced: %s.\n", strings.Join(out, ", "))
}
