package main

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/app/mac/goflags"
)

// newMacTree makes what the programs of a test are built from.
func newMacTree(t *testing.T) *macTree {
	t.Helper()
	if testing.Short() {
		t.Skip("what the app is made of is compiled anew with its flag")
	}
	tree, err := prepareMac(t.Context(), filepath.Join("..", ".."), "tests")
	if errors.Is(err, errNoLibffi) {
		t.Skip(err)
	}
	is.New(t).NoErr(err)
	return tree
}

// The app calls Objective-C, and is called by it, in each shape that it uses; and
// without its flag that is seen, whatever the compiler puts where.
func TestSelfTest(t *testing.T) {
	tree := newMacTree(t)
	for _, test := range []struct {
		name, reports string
		flags         []string
		works         bool
	}{
		{"as it is built", "callback, delegate: ok\n", []string{goflags.Flag()}, true},
		{"without the flag", "-[FulmenSelfTest plain:]: what libffi was given to keep was overwritten", nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			app, err := tree.build(t.Context(), "./cmd/fulmen-app", test.flags...)
			is.NoErr(err)
			reported, err := exec.CommandContext(t.Context(), app, "--self-test").CombinedOutput()
			if !bytes.Contains(reported, []byte(test.reports)) || test.works != (err == nil) {
				t.Errorf("%v\n%s", err, reported)
			}
		})
	}
}

// The imitation ends a program over each fault that it is there for.
func TestFaults(t *testing.T) {
	tree := newMacTree(t)
	program, err := tree.build(t.Context(), "./cmd/fulmen-app/testdata/faults", goflags.Flag())
	is.New(t).NoErr(err)
	for fault, reports := range map[string]string{
		"none":                    "",
		"unknown selector":        "objc: -[NSObject fly]: unrecognized selector",
		"argument":                "objc: +[NSFont monospacedSystemFontOfSize:weight:]: argument 2 is of type double (@@:dd), and was used as integer",
		"too few":                 "objc: +[NSFont monospacedSystemFontOfSize:weight:] has 4 arguments (@@:dd), and was used with 3",
		"not linked":              "objc: SMAppService is of the framework ServiceManagement, which is not linked",
		"answer":                  "objc: -[NSURL absoluteString] answers pointer (@@:), and was used as if it answered integer",
		"yes or no":               "objc: -[NSUserDefaults boolForKey:] answers yes or no",
		"method":                  "has the types v@:@@Q, and UNUserNotificationCenterDelegate says v@:@@@?",
		"block as method":         "panic: unsupported type:",
		"block":                   "objc: a block of the types v@?@d was given, and v@?@Q^B is called",
		"no block":                "objc: an object of class NSString is no block",
		"off the main thread":     "objc: +[NSObject new] was called off the main thread",
		"released twice":          "objc: release: the object, of class NSObject, has ended",
		"kept, not retained":      "objc: absoluteString was sent to an object that has ended",
		"released as an argument": "objc: -[NSControl setStringValue:]: the object, of class NSObject, has ended",
	} {
		t.Run(fault, func(t *testing.T) {
			reported, err := exec.CommandContext(t.Context(), program, fault).CombinedOutput()
			first, _, _ := strings.Cut(string(reported), "\n")
			if !strings.Contains(first, reports) || (err == nil) != (reports == "") {
				t.Errorf("%v\n%s", err, reported)
			}
		})
	}
}
