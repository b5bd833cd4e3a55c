package command

import (
	"context"
	"errors"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestDashboard(t *testing.T) {
	const address = "http://127.0.0.1:7731/#secret=s3cret"
	for name, c := range map[string]struct {
		args             []string
		noBrowser        bool
		opened, out, err string
		status           int
	}{
		"opened":     {args: []string{"dashboard"}, opened: address, out: "The dashboard is open in the browser.\n"},
		"a page":     {args: []string{"dashboard", "--page", "/job/j4k2m9xq7"}, opened: address + "&page=/job/j4k2m9xq7", out: "The dashboard is open in the browser.\n"},
		"printed":    {args: []string{"dashboard", "--print"}, out: address + "\n"},
		"no browser": {args: []string{"dashboard"}, noBrowser: true, opened: address, out: address + "\n", err: "There is no browser here that could be opened. Open this address within half a minute:\n"},
		"no page":    {args: []string{"dashboard", "--page", "jobs"}, err: "fulmen: --page is a page such as /jobs\n  See: fulmen help\n", status: api.ExitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, "")
			r.daemon.Always("daemon.browser_secret", api.DaemonBrowserSecretResult{URL: address})
			opened := ""
			r.app.Browse = func(_ context.Context, address string) error {
				opened = address
				if c.noBrowser {
					return errors.New("no browser")
				}
				return nil
			}
			is.Equal(r.run(c.args...), c.status)
			is.Equal(opened, c.opened)
			is.Equal(r.out.String(), c.out)
			is.Equal(r.err.String(), c.err)
		})
	}
}
