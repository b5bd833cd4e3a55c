package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"fulmen/daemon/api"
	"fulmen/native/recording"
)

// maxDebugFile is the largest file that is looked at.
const maxDebugFile = 16 << 20

// runDebug runs a command for developers; none of them is in the help of
// anything.
func runDebug(args []string, in io.Reader, out, complaints io.Writer) int {
	if len(args) > 0 && args[0] == "parse" {
		return runDebugParse(args[1:], in, out, complaints)
	}
	fmt.Fprintln(complaints, "fulmend debug: the commands are: parse FILE...")
	return api.ExitUsage
}

// parsed is what a file holds.
type parsed struct {
	File  string   `json:"file"`
	Kind  string   `json:"kind"`
	Facts any      `json:"facts"`
	Notes []string `json:"notes"`
}

// runDebugParse prints what each file says as facts, one JSON object a file. A
// file that cannot be read is complained of, and the others are printed.
func runDebugParse(args []string, in io.Reader, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("fulmend debug parse", flag.ContinueOnError)
	flags.SetOutput(complaints)
	flags.Usage = func() {
		fmt.Fprintf(complaints, "usage: fulmend debug parse FILE...\nFILE is - for standard input, or of one of these kinds:\n%s\n", recording.List())
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return api.ExitOK
	case err != nil:
		return api.ExitUsage
	case flags.NArg() == 0:
		flags.Usage()
		return api.ExitUsage
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	status := api.ExitOK
	for _, name := range flags.Args() {
		file, err := parseFile(name, in)
		if err == nil {
			err = encoder.Encode(file)
		}
		if err != nil {
			fmt.Fprintf(complaints, "fulmend: %s: %v\n", name, err)
			status = api.ExitFailed
		}
	}
	return status
}

func parseFile(name string, in io.Reader) (parsed, error) {
	data, err := readFile(name, in)
	if err != nil {
		return parsed{}, err
	}
	kind, facts, notes, err := recording.Describe(name, data)
	if err != nil {
		return parsed{}, err
	}
	if notes == nil {
		notes = []string{}
	}
	return parsed{File: name, Kind: kind, Facts: facts, Notes: notes}, nil
}

func readFile(name string, in io.Reader) ([]byte, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxDebugFile+1))
	if err == nil && len(data) > maxDebugFile {
		err = fmt.Errorf("larger than %d MiB", maxDebugFile>>20)
	}
	return data, err
}
