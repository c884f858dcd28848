using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using EchoServer.Demo;
using Samples;

namespace EchoServer;

/// <summary>The options of the program: their names, their help and what makes a value acceptable.</summary>
internal sealed class CommandLine
{
    private const double DefaultDemoSeconds = 3;

    private readonly Option<string[]> _endpoints = new("--endpoint", "-e")
    {
        Description = $"Where to listen: tcp, tls, ws or wss://host:port (port 0: any free one), or ipc://path; repeatable. Default: "
            + $"{Options.DefaultEndpoint}",
        HelpName = "endpoint",
    };

    private readonly Option<string> _certificate =
        new("--cert")
        {
            Description = "Certificate for tls and wss, a PEM file; a renewed file is picked up by new connections",
            HelpName = "file"
        };

    private readonly Option<string> _key = new(
        "--key")
    { Description = "Its private key, a PEM file. Default: in the certificate's file", HelpName = "file" };

    private readonly Option<bool> _devCertificate =
        new("--dev-cert") { Description = "Make a self-signed certificate for tls and wss, and say how to trust it" };

    private readonly Option<int?> _shards = Sample.Number(
        "--shards", "Serial executors that share the connections. Default: one per processor, and eight more per processor for tls, ws "
            + "and wss together; with inline completions half as many as processors", 1, Options.MostShards);

    private readonly Option<EchoMode> _mode = Sample.Choice(
        "--mode", "push: a handler answers in place; pull: one task receives for all. Default: push",
        ("push", EchoMode.Push), ("pull", EchoMode.Pull));

    private readonly Option<int?> _maxConnections = Sample.Number(
        "--max-connections", "Refuse connections beyond this many; 0: no cap. Default: 0", 0, int.MaxValue);

    private readonly Option<int?> _maxMessageSize = Sample.Number(
        "--max-message-size", "Close a connection that announces more bytes. Default: 8388608", 0, int.MaxValue);

    private readonly Option<PoolPreset> _pool = Sample.Choice(
        "--pool", "How many buffers are made ready: few, or for 10,000 connections. Default: default",
        ("default", PoolPreset.Default), ("server", PoolPreset.Server));

    private readonly Option<InlineCompletions> _inlineCompletions = Sample.Choice(
        "--inline-completions", "Socket completions on the polling threads: more msg/s. Default: off",
        ("on", InlineCompletions.On), ("off", InlineCompletions.Off));

    private readonly Option<bool> _quiet = new("--quiet", "-q") { Description = "No live status; the READY lines and the summary stay" };

    private readonly Option<double> _demo = new("--demo")
    {
        Description = "Start clients too, check every reply, print a table; seconds per step. Default: 3",
        HelpName = "seconds",
        Arity = ArgumentArity.ZeroOrOne,
        CustomParser = ParseSeconds,
    };

    private readonly RootCommand _root;

    public CommandLine()
    {
        _root = new RootCommand("A STREAM server on Net.Zlink that sends every length-prefixed frame back.")
        {
            _endpoints, _certificate, _key, _devCertificate, _shards, _mode, _maxConnections, _maxMessageSize, _pool, _inlineCompletions,
                _quiet, _demo,
        };
        _root.Validators.Add(CheckTogether);
        _root.WithExamples(
            """
            Examples:
              EchoServer                                                listen on tcp://127.0.0.1:5555
              EchoServer --demo                                         see it work and how fast it is, in 20 seconds
              EchoServer -e tcp://*:5555 --max-connections 10000        serve the network, at most 10,000 connections
              EchoServer -e tcp://127.0.0.1:0 --mode pull --quiet       any free port; read it from the READY line
              EchoServer -e wss://127.0.0.1:8443 --dev-cert             WebSocket over TLS, with a certificate made for it
              EchoServer --inline-completions on --pool server          most throughput with many connections

            From the source tree: dotnet run -c Release --project samples/EchoServer -- --demo
            """);
    }

    /// <summary>
    /// Reads the arguments. When the program has nothing more to do (help, version, a mistake), returns null and the exit code.
    /// </summary>
    public Options? Read(string[] arguments, out int exitCode)
    {
        if (Sample.Parse(Problem.Program, _root, arguments, out exitCode) is not { } result)
        {
            return null;
        }

        return new Options
        {
            Endpoints = result.GetValue(_endpoints) is { Length: > 0 } endpoints ? endpoints : [Options.DefaultEndpoint],
            CertificateFile = result.GetValue(_certificate) ?? "",
            KeyFile = result.GetValue(_key) ?? "",
            UsesDevCertificate = result.GetValue(_devCertificate),
            Shards = result.GetValue(_shards),
            Mode = result.GetValue(_mode),
            MaxConnections = result.GetValue(_maxConnections) ?? 0,
            MaxMessageSize = result.GetValue(_maxMessageSize),
            Pool = result.GetValue(_pool),
            InlineCompletions = result.GetValue(_inlineCompletions),
            Quiet = result.GetValue(_quiet),
            Demo = result.GetResult(_demo) is null ? null : TimeSpan.FromSeconds(result.GetValue(_demo)),
        };
    }

    /// <summary>What goes together and what does not. The demo brings its own clients and needs room for them.</summary>
    private void CheckTogether(CommandResult result)
    {
        if (result.GetResult(_certificate) is not null && result.GetValue(_devCertificate))
        {
            result.AddError("--cert and --dev-cert exclude each other");
            return;
        }

        if (result.GetResult(_key) is not null && result.GetResult(_certificate) is null)
        {
            result.AddError("--key belongs to a --cert");
            return;
        }

        if ((result.GetResult(_certificate) is not null || result.GetValue(_devCertificate))
            && result.GetValue(_endpoints)?.Any(Options.IsEncrypted) is not true)
        {
            string option = result.GetResult(_certificate) is not null ? "--cert" : "--dev-cert";
            result.AddError($"{option} is for tls:// and wss://: name such an --endpoint, or leave it out");
            return;
        }

        if (result.GetResult(_demo) is null)
        {
            return;
        }

        if (result.GetResult(_endpoints) is not null)
        {
            result.AddError("--demo listens on a free local port of its own: leave out --endpoint");
        }
        else if (result.GetValue(_maxConnections) is > 0 and < DemoPlan.MostConnections)
        {
            result.AddError($"--demo opens {DemoPlan.MostConnections:N0} connections: leave out --max-connections or raise it");
        }
        else if (result.GetValue(_maxMessageSize) < DemoPlan.MessageSize)
        {
            result.AddError($"--demo sends messages of {DemoPlan.MessageSize:N0} bytes: leave out --max-message-size or raise it");
        }
    }

    private static double ParseSeconds(ArgumentResult argument)
    {
        if (argument.Tokens.Count == 0)
        {
            return DefaultDemoSeconds;
        }

        string given = argument.Tokens[0].Value;
        if (double.TryParse(given, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double seconds)
            && seconds is >= 0.1 and <= 3600)
        {
            return seconds;
        }

        argument.AddError($"--demo cannot be '{given}': use the seconds that each step measures, from 0.1 to 3600");
        return DefaultDemoSeconds;
    }
}
