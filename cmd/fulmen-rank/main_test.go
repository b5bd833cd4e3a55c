package main

import (
	"os"
	"testing"
)

// asWorker makes the test binary the worker itself, so that tests run the real
// program in processes of their own.
const asWorker = "FULMEN_TEST_AS_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(asWorker) != "" {
		exit(work(os.Args[1:]))
	}
	os.Exit(m.Run())
}
