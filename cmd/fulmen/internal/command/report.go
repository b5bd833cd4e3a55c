package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/redact"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// reportLines is how much of the log a report has.
const reportLines = 500

func (r *run) reportCommand() *cobra.Command {
	var out string
	var preview bool
	c := &cobra.Command{
		Use: "report", Short: "Save what helps to find a fault", Args: cobra.NoArgs,
		Long: "Collects versions, checks, configuration, documents, measurements and the end of the log into one text file.\n" +
			"Serial numbers, addresses of network hardware, names of networks, users and hosts are taken out. The report is\n" +
			"saved and never sent. With --json it is printed in the shape of daemon.report and not saved.",
		Example: "  fulmen report --preview | less\n  fulmen report\n  fulmen report --out /tmp/report.txt",
		RunE: func(c *cobra.Command, _ []string) error {
			result := r.report(c.Context())
			switch {
			case r.json:
				return text.JSON(r.Out, result)
			case preview:
				_, err := fmt.Fprint(r.Out, text.CleanLines(whole(result)))
				return err
			}
			if out == "" {
				out = "fulmen-report-" + r.Now().Format("20060102-150405") + ".txt"
			}
			return r.save(out, result)
		},
	}
	c.Flags().StringVar(&out, "out", "", "the file to write, which must not be there yet")
	c.Flags().BoolVar(&preview, "preview", false, "print the whole report and save nothing")
	return c
}

// collected are the parts of a report before anything is taken out.
type collected struct {
	files []api.ReportFile
	names *redact.Redactor
}

func (c *collected) add(name string, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		raw = []byte(err.Error())
	}
	c.names.Learn(raw)
	c.files = append(c.files, api.ReportFile{Name: name, Text: string(raw)})
}

// report collects what can be had, with a daemon or without one.
func (r *run) report(ctx context.Context) api.DaemonReportResult {
	c := &collected{names: redact.New()}
	r.ownNames(c.names)
	c.add("versions.json", versions{Version: r.Version, GoVersion: runtime.Version()})
	c.add("doctor.json", r.doctor(ctx))
	folder := ""
	err := r.with(ctx, func(cl *client.Client) error {
		folder = logFolder(ctx, cl)
		return r.ask(ctx, cl, c)
	})
	if err != nil {
		c.add("error.json", api.AsError(err))
	}
	if folder == "" {
		folder = usualLogFolder(r.Environment)
	}
	lines, err := tail(filepath.Join(folder, logFile), reportLines)
	if err != nil {
		lines = []string{"the log cannot be read: " + err.Error()}
	}
	c.files = append(c.files, api.ReportFile{Name: "fulmend.log", Text: strings.Join(lines, "\n") + "\n"})
	return c.redacted()
}

// redacted takes out of all parts what names somebody. It comes last, when the
// names in every part are known.
func (c *collected) redacted() api.DaemonReportResult {
	var result api.DaemonReportResult
	for _, f := range c.files {
		out := api.ReportFile{Name: f.Name}
		if strings.HasSuffix(f.Name, ".json") {
			out.Text = c.names.JSON([]byte(f.Text))
		} else {
			out.Text = c.names.Text(f.Text)
		}
		result.Files = append(result.Files, out)
	}
	result.Redacted = c.names.Counts()
	return result
}

// ownNames are the names of this computer and of who uses it.
func (r *run) ownNames(names *redact.Redactor) {
	names.Add(redact.User, r.User)
	names.Add(redact.User, filepath.Base(r.Environment.Home))
	names.Add(redact.Host, r.Host)
	first, _, _ := strings.Cut(r.Host, ".")
	names.Add(redact.Host, first)
}

// ask adds what the daemon says: its own report where it has one.
func (r *run) ask(ctx context.Context, cl *client.Client, c *collected) error {
	own, err := client.Call[api.DaemonReportResult](ctx, cl, "daemon.report", nil)
	if err == nil {
		for _, f := range own.Files {
			c.files = append(c.files, api.ReportFile{Name: "daemon/" + f.Name, Text: f.Text})
		}
	} else if !notBuilt(err) {
		return err
	}
	var problems []error
	for _, part := range []struct{ file, method string }{
		{"info.json", "daemon.info"}, {"config.json", "daemon.config"}, {"nodes.json", "node.list"}, {"conditions.json", "node.conditions"},
		{"measurements.json", "measure.list"}, {"state.json", "state.get"},
	} {
		answer, err := client.Call[json.RawMessage](ctx, cl, part.method, nil)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		c.add(part.file, answer)
		c.learn(part.method, answer)
	}
	return errors.Join(problems...)
}

// learn takes from an answer the names that its fields do not give away.
func (c *collected) learn(method string, answer json.RawMessage) {
	switch method {
	case "state.get":
		var state api.StateGetResult
		if json.Unmarshal(answer, &state) != nil {
			return
		}
		for _, d := range state.Docs {
			var identity api.Identity
			if d.Kind == api.KindIdentity && d.Decode(&identity) == nil {
				c.names.Add(redact.Host, identity.Name)
			}
		}
	case "daemon.config":
		var listing api.DaemonConfigResult
		var peers []string
		if json.Unmarshal(answer, &listing) != nil {
			return
		}
		if key, err := keyOf(listing, "peers.addresses"); err != nil || json.Unmarshal(key.Value, &peers) != nil {
			return
		}
		for _, peer := range peers {
			host, _, err := net.SplitHostPort(peer)
			if err != nil {
				host = peer
			}
			if _, err := netip.ParseAddr(host); err != nil {
				c.names.Add(redact.Host, host)
			}
		}
	}
}

// whole is a report as one text.
func whole(result api.DaemonReportResult) string {
	var b strings.Builder
	for _, f := range result.Files {
		fmt.Fprintf(&b, "==== %s ====\n%s\n", f.Name, f.Text)
	}
	return b.String()
}

// save writes the report and says what is in it.
func (r *run) save(path string, result api.DaemonReportResult) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.WriteString(whole(result))
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		e := api.Errorf(api.ReasonBadValue, path, "The report cannot be saved: %v.", err)
		e.Data.Remedy = "Name another file with --out."
		return e
	}
	if err := r.view().Report(r.Out, result); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.Out, "\nSaved to %s. It was sent nowhere; read it before you pass it on.\n", text.Clean(path))
	return err
}
