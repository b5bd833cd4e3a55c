package show

import (
	"fmt"
	"io"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// Tokens writes a table of tokens.
func (v View) Tokens(w io.Writer, all []api.TokenInfo) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "There are no tokens. Make one with: fulmen token create")
		return err
	}
	table := text.NewTable("NAME", "MADE", "USED", "VALID")
	for _, t := range all {
		valid := "for ever"
		switch {
		case t.ExpiresAt.IsZero():
		case !t.ExpiresAt.After(v.Now):
			valid = "expired"
		default:
			valid = "for " + text.Duration(t.ExpiresAt.Sub(v.Now))
		}
		table.Row(t.Name, text.Ago(v.Now, t.CreatedAt.Time), text.Ago(v.Now, t.UsedAt.Time), valid)
	}
	return table.Write(w)
}
