// Package collective joins the worker's group and measures what it carries:
// all_sum by message size as nccl-tests print it, and messages between two
// ranks. Every result is checked against what it must be.
package collective
