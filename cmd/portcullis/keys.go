package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/records"
)

func newKeys() *cobra.Command {
	return family("keys", "Work with the master key", newKeysRotate(), newKeysStatus())
}

func newKeysRotate() *cobra.Command {
	settings := &config.Config{}
	var use bool
	cmd := &cobra.Command{
		Use: "rotate", Short: "Write the next master key into the file", Args: noArguments,
		Example: "  portcullis keys rotate --data-dir ./data",
		Long: "Writes a new random key into the master key's file: in front of the others for the embedded store,\n" +
			"behind them with --mongo-url, where every gateway has to know a key before one uses it. Restart the\n" +
			"gateways after each step.",
		RunE: filled(settings, func(cmd *cobra.Command, _ []string) error {
			text, err := rotate(settings.Store, use)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		}),
	}
	settings.AddFlags(cmd.Flags(), "config", "data-dir", "master-key-file", "mongo-url")
	cmd.Flags().BoolVar(&use, "use", false, "with --mongo-url: move the last key in front of the others, once every gateway knows it")
	return cmd
}

// rotate makes one step of a rotation, and returns what to do next.
func rotate(s config.Store, use bool) (next string, err error) {
	file, after := masterKeyFile(s), "`portcullis keys status` tells what still needs the older keys"
	switch {
	case use && s.MongoURL == "":
		return "", errors.New("--use is for replicas (--mongo-url); the embedded store's new key is in use from the next start on")
	case use:
		fingerprint, err := file.Use()
		return fmt.Sprintf("master key %s is on the first line now; restart the gateways one after the other, and it is in use; %s", fingerprint, after), err
	case s.MongoURL != "":
		fingerprint, err := file.Add(masterkey.Last)
		return fmt.Sprintf("master key %s is on the last line now; bring the file to every gateway, restart them one after the other, and then run `portcullis keys rotate --use`", fingerprint), err
	}
	fingerprint, err := file.Add(masterkey.First)
	return fmt.Sprintf("master key %s is on the first line now; restart the gateway, and it is in use; %s", fingerprint, after), err
}

func newKeysStatus() *cobra.Command {
	settings := &config.Config{}
	cmd := &cobra.Command{
		Use: "status", Short: "Tell which master keys there are, and what still needs each of them", Args: noArguments,
		Example: "  portcullis keys status --data-dir ./data",
		RunE: filled(settings, func(cmd *cobra.Command, _ []string) error {
			master, err := masterKeyFile(settings.Store).Read()
			if err != nil {
				return err
			}
			needs, err := readNeeds(cmd.Context(), settings.Store)
			if err != nil {
				return err
			}
			return tellKeys(cmd, master.Fingerprints(), needs)
		}),
	}
	settings.AddFlags(cmd.Flags(), "config", "data-dir", "master-key-file", "mongo-url")
	return cmd
}

// keyNeeds is what needs master keys, by their fingerprints.
type keyNeeds struct {
	// store is the key of the store itself, "" before the first start of a gateway.
	store   string
	apiKeys map[string]int
}

// readNeeds reads what needs master keys.
func readNeeds(ctx context.Context, s config.Store) (needs keyNeeds, err error) {
	c := records.NewCollections()
	opened, shut, err := openBeside(ctx, s, c)
	if err != nil {
		return needs, err
	}
	if needs.store, err = masterkey.OfStore(ctx, opened, c); err == nil {
		needs.apiKeys, err = c.KeysByMasterKey(ctx, opened, resources.At(time.Now()))
	}
	return needs, errors.Join(err, shut())
}

// tellKeys prints a table of the master keys, by their fingerprints, with what needs each of them.
func tellKeys(cmd *cobra.Command, prints []string, needs keyNeeds) error {
	out := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "LINE\tMASTER KEY\tSTATE\tAPI KEYS\tTO TAKE IT OUT")
	for i, fingerprint := range prints {
		state, remedy := "accepted", "wait for the tokens that it signed to end"
		if i == 0 {
			state, remedy = "in use", "not before another one is in use"
			if needs.store != "" && needs.store != fingerprint {
				state = "next" // no gateway has started with it
			}
		} else if needs.store == fingerprint {
			state, remedy = "in use", "not before a gateway has started with the first line; then "+remedy
		}
		if i > 0 && needs.apiKeys[fingerprint] > 0 {
			remedy += ", and have the API keys made anew"
		}
		fmt.Fprintf(out, "%d\t%s\t%s\t%d\t%s\n", i+1, fingerprint, state, needs.apiKeys[fingerprint], remedy)
		delete(needs.apiKeys, fingerprint)
	}
	if n := needs.apiKeys[""]; n > 0 {
		fmt.Fprintf(out, "\tunknown\t\t%d\tmade by a release that did not note the key: any of the lines may be theirs\n", n)
		delete(needs.apiKeys, "")
	}
	if needs.store != "" && !slices.Contains(prints, needs.store) {
		fmt.Fprintf(out, "\t%s\tmissing\t%d\tno gateway starts without it: the store was made with it\n", needs.store, needs.apiKeys[needs.store])
		delete(needs.apiKeys, needs.store)
	}
	for _, fingerprint := range slices.Sorted(maps.Keys(needs.apiKeys)) {
		fmt.Fprintf(out, "\t%s\tmissing\t%d\trefused: the key is not in the file\n", fingerprint, needs.apiKeys[fingerprint])
	}
	return out.Flush()
}
