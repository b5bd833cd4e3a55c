package show

import (
	"fmt"
	"io"
	"strings"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Conditions writes what is wrong, as the daemon words it.
func (v View) Conditions(w io.Writer, all []api.NodeCondition, n names) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "Nothing is wrong.")
		return err
	}
	count := fmt.Sprintf("%d things to know:", len(all))
	if len(all) == 1 {
		count = "One thing to know:"
	}
	if _, err := fmt.Fprintln(w, count); err != nil {
		return err
	}
	table := text.NewTable()
	for _, c := range all {
		where := ""
		if name := n.of(c.Node); len(n) > 1 && !strings.Contains(c.Text, name) {
			where = name + ": "
		}
		table.Row("", string(c.Severity), where+c.Text)
		if c.Remedy != "" {
			table.Row("", "", c.Remedy)
		}
		if v.Wide {
			table.Row("", "", join(" ", string(c.Code), c.Subject)+", since "+c.Since.String())
		}
	}
	return table.Write(w)
}
