package show

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Checks writes what was checked, and below what is not well what to do.
func (v View) Checks(w io.Writer, checks []api.DoctorCheck) error {
	table := text.NewTable()
	wrong := 0
	for _, c := range checks {
		if c.Answer == api.AnswerNo {
			wrong++
		}
		table.Row(answer(c.Answer), v.said(c.Text, c.Reason))
		if c.Remedy != "" && c.Answer != api.AnswerYes {
			table.Row("", c.Remedy)
		}
	}
	if err := table.Write(w); err != nil {
		return err
	}
	end := "Nothing is wrong."
	if wrong > 0 {
		end = fmt.Sprintf("%d of %d checks failed.", wrong, len(checks))
	}
	_, err := fmt.Fprintf(w, "\n%s\n", end)
	return err
}

// Hardware writes what was compared, a line for each fact.
func (v View) Hardware(w io.Writer, checks []api.DoctorCheck) error {
	table := text.NewTable()
	count := map[api.Answer]int{}
	for _, c := range checks {
		count[c.Answer]++
		mark := map[api.Answer]string{api.AnswerYes: "agree", api.AnswerNo: "differ"}[c.Answer]
		if mark == "" {
			mark = text.Unknown
		}
		table.Row(mark, v.said(c.Text, c.Reason))
	}
	if err := table.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d agree, %d differ, %d are unknown.\n", count[api.AnswerYes], count[api.AnswerNo], len(checks)-count[api.AnswerYes]-count[api.AnswerNo])
	return err
}

// answer is the mark of a check.
func answer(a api.Answer) string {
	switch a {
	case api.AnswerYes:
		return "ok"
	case api.AnswerNo:
		return "wrong"
	}
	return text.Unknown
}

// said is the text of a check, on wide screens with the key of its reason.
func (v View) said(sentence string, reason api.Reason) string {
	if v.Wide && reason != "" {
		sentence += " (" + string(reason) + ")"
	}
	return sentence
}

// Report writes what a report has, and how much of it was replaced.
func (v View) Report(w io.Writer, r api.DaemonReportResult) error {
	table := text.NewTable("PART", "LINES", "SIZE")
	for _, f := range r.Files {
		table.Row(f.Name, strconv.Itoa(strings.Count(f.Text, "\n")), text.Bytes(int64(len(f.Text))))
	}
	if err := table.Write(w); err != nil {
		return err
	}
	var out []string
	for _, sort := range slices.Sorted(maps.Keys(r.Redacted)) {
		out = append(out, fmt.Sprintf("%s %d times", text.Clean(sort), r.Redacted[sort]))
	}
	if len(out) == 0 {
		out = []string{"nothing"}
	}
	_, err := fmt.Fprintf(w, "\nReplaced: %s.\n", strings.Join(out, ", "))
	return err
}
