package steps

import (
	"path/filepath"
	"regexp"
	"strings"

	"fulmen/app/mac/goflags"
	"fulmen/cmd/internal/bundle/layout"
	"fulmen/daemon/api"
)

// Step is one command.
type Step struct {
	// Why says in a few words what it is for.
	Why string
	// Command is the program and its arguments.
	Command []string
	// Secret are the arguments that no log shows, by their places in Command.
	Secret []int
}

// String is the command as a person would type it, without what is secret.
func (s Step) String() string {
	words := make([]string, len(s.Command))
	for n, word := range s.Command {
		words[n] = quoted(word)
	}
	for _, n := range s.Secret {
		words[n] = "***"
	}
	return strings.Join(words, " ")
}

// plain matches words that every shell takes as they are.
var plain = regexp.MustCompile(`^[A-Za-z0-9@%+:,./_-][A-Za-z0-9@%+=:,./_-]*$`)

func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Paths are the places of what is made, all below the folder build.
type Paths struct {
	// Root is the root of the repository.
	Root string
	// Version is the product's.
	Version string
}

// Programs is the folder of the programs for the app.
func (p Paths) Programs() string { return filepath.Join(p.Root, "build/app/programs") }

// Bundle is the app.
func (p Paths) Bundle() string { return filepath.Join(p.Root, "build/app/Fulmen.app") }

// Work is a folder for what is needed in between.
func (p Paths) Work() string { return filepath.Join(p.Root, "build/app/work") }

// Release is the folder of what is published.
func (p Paths) Release() string { return filepath.Join(p.Root, "build/release") }

// DiskImage is the app as people download it.
func (p Paths) DiskImage() string { return p.release("Fulmen-" + p.Version + ".dmg") }

// Package is the installer for Macs without a screen.
func (p Paths) Package() string { return p.release("Fulmen-" + p.Version + ".pkg") }

// Cask is the recipe for Homebrew.
func (p Paths) Cask() string { return p.release("fulmen.rb") }

// Materials is the list of what the app is made of, as SPDX.
func (p Paths) Materials() string { return p.release("Fulmen-" + p.Version + ".spdx.json") }

// Sums is the list of checksums.
func (p Paths) Sums() string { return p.release("SHA256SUMS") }

func (p Paths) release(name string) string { return filepath.Join(p.Release(), name) }

// Entitlements is the file of entitlements of a program.
func (p Paths) Entitlements(program string) string {
	return filepath.Join(p.Root, "assets/entitlements", program+".plist")
}

// Build gives the commands that build the programs of the app on a Mac. They are
// linked as Linux checks it, without paths of the machine and without tables for
// a debugger.
func Build(p Paths) []Step {
	var steps []Step
	for _, name := range layout.Programs() {
		command := []string{"go", "build", "-trimpath", "-ldflags", "-s -w " + layout.Linking(name)}
		if name == api.BundleExecutable {
			command = append(command, goflags.Flag())
		}
		command = append(command, "-o", filepath.Join(p.Programs(), name), "./cmd/"+name)
		steps = append(steps, Step{Why: "build " + name, Command: command})
	}
	return steps
}
