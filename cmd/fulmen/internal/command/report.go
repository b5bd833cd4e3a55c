package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"fulmen/app/text"
	"fulmen/cmd/fulmen/internal/redact"
	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// reportLines is how much of the log a report has.
const reportLines = 500

func (r *run) reportCommand() *cobra.Command {
	var out, recording string
	var preview bool
	c := &cobra.Command{
		Use: "report", Short: "Save a report that helps to find a fault", Args: cobra.NoArgs,
		Long: "Collects versions, checks, configuration, documents, measurements and the end of the log into one text file.\n" +
			"It shows only what is known to be harmless: numbers, times, ids of nodes and jobs, versions, models, and Fulmen's\n" +
			"own words. Every other text, such as names, folders, commands, labels and addresses, is replaced by a word like\n" +
			"path-3, always the same for the same text. The report is saved and never sent. With --json it is printed in the\n" +
			"shape of daemon.report and not saved.\n\n" +
			"--recording saves, on a Mac, what its Thunderbolt registry, its network settings and the RDMA library say, for a\n" +
			"simulation of it. Each name, address and identifier in it is shown with what is saved in its place.",
		Example: "  fulmen report --preview | less\n  fulmen report\n  fulmen report --out /tmp/report.txt\n  fulmen report --recording my-mac.json",
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("recording") {
				if recording == "" || preview || out != "" || r.json {
					return usage("--recording needs a file, and goes with no other flag")
				}
				return r.fulmend(c.Context(), r.Out, "debug", "record", "--out="+recording)
			}
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
	c.Flags().StringVar(&recording, "recording", "", "save a recording of this Mac in this `FILE`, which must not be there yet, instead")
	c.Flags().BoolVar(&preview, "preview", false, "print the whole report without saving it")
	return c
}

// collected are the parts of a report, redacted.
type collected struct {
	files    []api.ReportFile
	redactor *redact.Redactor
}

// add adds a value, which is judged as one of the type T.
func add[T any](c *collected, name string, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		raw = []byte(err.Error())
	}
	c.files = append(c.files, api.ReportFile{Name: name, Text: c.redactor.JSON(reflect.TypeFor[T](), raw) + "\n"})
}

// report collects what can be had, with a daemon or without one.
func (r *run) report(ctx context.Context) api.DaemonReportResult {
	c := &collected{redactor: redact.New()}
	add[api.DaemonInfoResult](c, "versions.json", versions{Version: r.Version, GoVersion: runtime.Version()})
	add[api.DaemonDoctorResult](c, "doctor.json", r.doctor(ctx))
	folder := ""
	err := r.with(ctx, func(cl *client.Client) error {
		folder = logFolder(ctx, cl)
		return errors.Join(
			addAnswer[api.DaemonInfoResult](ctx, cl, c, "info.json", "daemon.info"),
			addAnswer[api.DaemonConfigResult](ctx, cl, c, "config.json", "daemon.config"),
			addAnswer[api.NodeListResult](ctx, cl, c, "nodes.json", "node.list"),
			addAnswer[api.NodeConditionsResult](ctx, cl, c, "conditions.json", "node.conditions"),
			addAnswer[api.MeasureListResult](ctx, cl, c, "measurements.json", "measure.list"),
			addAnswer[api.StateGetResult](ctx, cl, c, "state.json", "state.get"))
	})
	if err != nil {
		add[api.Error](c, "error.json", api.AsError(err))
	}
	if folder == "" {
		folder = r.Environment.Places().Logs
	}
	c.addLog(filepath.Join(folder, logFile))
	return api.DaemonReportResult{Files: c.files, Redacted: c.redactor.Counts()}
}

// addAnswer adds what the daemon answers to a method without parameters.
func addAnswer[T any](ctx context.Context, cl *client.Client, c *collected, file, method string) error {
	answer, err := client.Call[json.RawMessage](ctx, cl, method, nil)
	if err == nil {
		add[T](c, file, answer)
	}
	return err
}

// addLog adds the end of the daemon's log.
func (c *collected) addLog(path string) {
	lines, err := tail(path, reportLines)
	if err != nil {
		lines = []string{"The log cannot be read: " + c.redactor.Text(cause(err).Error())}
	} else {
		for i, line := range lines {
			lines[i] = c.redactor.Line(line)
		}
	}
	c.files = append(c.files, api.ReportFile{Name: logFile, Text: strings.Join(lines, "\n") + "\n"})
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
		e := api.Errorf(api.ReasonBadValue, path, "The report cannot be saved as %s.", path)
		if errors.Is(err, fs.ErrExist) {
			e = api.Errorf(api.ReasonBadValue, path, "There is a file %s already.", path)
		}
		return e.WithRemedy("Name another file with --out.")
	}
	return r.print(r.Out, func(w *show.Page) {
		r.view().Report(w, result)
		fmt.Fprintf(w, "\nSaved to %s. It was not sent anywhere; read it before you pass it on.\n", text.Clean(path))
	})
}
