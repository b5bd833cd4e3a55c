package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestExplain(t *testing.T) {
	many := api.Errorf(api.ReasonBadValue, "x", "Two links are in the way.")
	many.Data.Causes = []api.Cause{{Message: "a is slow\x1b[2J"}, {Message: "b is slow"}}
	lost := api.Errorf(api.ReasonNoDaemon, "", "The connection to the daemon was lost.")
	for _, c := range []struct {
		err  error
		want string
	}{
		{notRunning(), "fulmen: Fulmen is not running.\n  Start it with: fulmen install. Only for now: fulmend\n"},
		{lost, "fulmen: The connection to the daemon was lost.\n  See: fulmen doctor\n"},
		{api.NewError(api.ReasonNotBuiltYet, "node.watch"), "fulmen: The running daemon is too old for this command.\n  Update Fulmen, then run: fulmen restart\n"},
		{fmt.Errorf("%w [secret]", many), "fulmen: Two links are in the way.\n  a is slow\\x1b[2J\n  b is slow\n"},
		{usage("what is %q", "that\n"), "fulmen: what is \"that\\n\"\n  See: fulmen help\n"},
		{errors.New("disk\nfull"), "fulmen: disk\\x0afull\n"},
		{exited{api.ExitFailed}, ""},
	} {
		t.Run(c.want, func(t *testing.T) {
			is := is.New(t)
			var out strings.Builder
			r := &run{App: App{Err: &out}}
			r.explain(c.err)
			if strings.Contains(c.want, "links") {
				c.want += "  " + many.Data.Remedy + "\n"
				c.want = strings.TrimSuffix(c.want, "  \n")
			}
			is.Equal(out.String(), c.want)
		})
	}
}

func TestExplainAsJSON(t *testing.T) {
	is := is.New(t)
	var out strings.Builder
	r := &run{App: App{Err: &out}, json: true}
	r.explain(notRunning())
	var got map[string]api.Error
	is.NoErr(json.Unmarshal([]byte(out.String()), &got))
	is.Equal(got["error"].Data.Reason, api.ReasonNoDaemon)
}
