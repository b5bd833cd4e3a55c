package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"fulmen/daemon"
	"fulmen/daemon/api"
)

// runTopology prints a scenario's graph: without a form the nodes, documents and
// links that a screen draws it of, as one object of JSON.
func runTopology(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fulmend topology", flag.ContinueOnError)
	name := flags.String("scenario", "", "a scenario's name, or a .toml file")
	form := flags.String("form", "", "for other tools: "+strings.Join(api.ExportForm("").Values(), ", "))
	if err := parse(flags, args); err != nil {
		return err
	}
	if *name == "" || *form != "" && !api.ExportForm(*form).Valid() {
		return wrongUsage("topology needs --scenario, and --form is one of " + strings.Join(api.ExportForm("").Values(), ", "))
	}
	drawing, err := daemon.DrawScenario(*name, version)
	if err != nil {
		return err
	}
	return printDrawing(out, drawing, api.ExportForm(*form))
}

func printDrawing(out io.Writer, drawing daemon.Drawing, form api.ExportForm) error {
	if form == "" {
		return writeJSON(out, drawing)
	}
	result, err := drawing.Export(api.LinkExportParams{Form: form})
	if err != nil {
		return err
	}
	for _, note := range result.Notes {
		fmt.Fprintln(os.Stderr, "fulmend:", note.Message)
	}
	_, err = fmt.Fprintln(out, strings.TrimSuffix(result.Text, "\n"))
	return err
}
