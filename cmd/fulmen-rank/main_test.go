package main

import (
	"os"
	"testing"

	"fulmen/cmd/fulmen-rank/internal/life"
)

// asWorker makes the test binary the worker itself, so that tests run the real
// program in processes of their own.
const asWorker = "FULMEN_TEST_AS_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(asWorker) != "" {
		life.Exit(work(os.Args[1:]))
	}
	os.Exit(m.Run())
}
