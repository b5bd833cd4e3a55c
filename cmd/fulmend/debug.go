package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"fulmen/native/recording"
)

// maxDebugFile is the largest file that is looked at.
const maxDebugFile = 16 << 20

// runDebug runs a command for developers; none of them is in the help of
// anything.
func runDebug(args []string, in io.Reader, out, complaints io.Writer) error {
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case "parse":
		return runDebugParse(args[1:], in, out, complaints)
	case "record":
		return runDebugRecord(args[1:], out, complaints)
	case "notifications":
		return runDebugNotifications(args[1:], out, complaints)
	}
	return wrongUsage("the commands of debug are: parse FILE..., record, notifications")
}

// parsed is what a file holds.
type parsed struct {
	File  string   `json:"file"`
	Kind  string   `json:"kind"`
	Facts any      `json:"facts"`
	Notes []string `json:"notes"`
}

// runDebugParse prints what each file says as facts, one JSON object a file. A
// file that cannot be read is complained of, and the others are printed. With
// --scenario it prints the scenario that the files together make.
func runDebugParse(args []string, in io.Reader, out, complaints io.Writer) error {
	flags := flag.NewFlagSet("fulmend debug parse", flag.ContinueOnError)
	flags.SetOutput(complaints)
	scenario := flags.String("scenario", "", "print a scenario of this `NAME`, made of recordings of two or more Macs")
	flags.Usage = func() {
		fmt.Fprintf(complaints, "usage: fulmend debug parse [--scenario NAME] FILE...\nFILE is - for standard input, or of one of these kinds:\n%s\n", recording.List())
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return wrongUsage("")
	case flags.NArg() == 0:
		flags.Usage()
		return wrongUsage("")
	}
	if *scenario != "" {
		return printRebuilt(*scenario, flags.Args(), in, out, complaints)
	}
	var failed []error
	for _, name := range flags.Args() {
		file, err := parseFile(name, in)
		if err == nil {
			err = writeJSON(out, file)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(failed...)
}

// printRebuilt prints the scenario as its file, and the notes beside it.
func printRebuilt(name string, paths []string, in io.Reader, out, complaints io.Writer) error {
	var files []recording.File
	for _, path := range paths {
		data, err := readFile(path, in)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		files = append(files, recording.File{Name: path, Data: data})
	}
	scenario, notes, err := recording.Rebuild(name, files)
	for _, note := range notes {
		complain(complaints, note)
	}
	var text []byte
	if err == nil {
		text, err = recording.Format(scenario)
	}
	if err == nil {
		_, err = out.Write(text)
	}
	return err
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
