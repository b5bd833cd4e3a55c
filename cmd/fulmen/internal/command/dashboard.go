package command

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

func (r *run) dashboardCommand() *cobra.Command {
	var print bool
	var page string
	c := &cobra.Command{
		Use: "dashboard", Short: "Open the dashboard in the browser", Args: cobra.NoArgs,
		Long: "Opens the cluster as a picture in the browser of this machine. The address holds a secret that counts once and for\n" +
			"half a minute; the page makes a token of it, which ends with the browser's tab.",
		Example: "  fulmen dashboard\n  fulmen dashboard --page /jobs\n  fulmen dashboard --print",
		RunE: func(c *cobra.Command, _ []string) error {
			if page != "" && !strings.HasPrefix(page, "/") {
				return usage("--page is a page such as /jobs")
			}
			return r.with(c.Context(), func(c2 *client.Client) error { return r.dashboard(c.Context(), c2, page, print) })
		},
	}
	c.Flags().BoolVar(&print, "print", false, "print the address and open nothing")
	c.Flags().StringVar(&page, "page", "", "a page of it: /jobs, /conditions, /pairing, /node/ID, /link/ID, /job/ID, /sharing")
	return c
}

func (r *run) dashboard(ctx context.Context, c *client.Client, page string, print bool) error {
	secret, err := client.Call[api.DaemonBrowserSecretResult](ctx, c, "daemon.browser_secret", nil)
	if err != nil {
		return err
	}
	if page != "" {
		secret.URL += "&page=" + (&url.URL{Path: page}).EscapedPath()
	}
	if r.json {
		return text.JSON(r.Out, secret)
	}
	if !print {
		if err := r.browse(ctx, secret.URL); err == nil {
			_, err = fmt.Fprintln(r.Out, "The dashboard is open in the browser.")
			return err
		}
		fmt.Fprintln(r.Err, "There is no browser here that could be opened. Open this address within half a minute:")
	}
	_, err = fmt.Fprintln(r.Out, secret.URL)
	return err
}

// browse has the desktop open an address in the person's browser.
func (r *run) browse(ctx context.Context, address string) error {
	if r.Browse != nil {
		return r.Browse(ctx, address)
	}
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "/usr/bin/open"
	}
	return exec.CommandContext(ctx, opener, address).Run()
}
