using System.CommandLine;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Servers;
using Net.Zlink.Scenarios.Wire;

namespace Net.Zlink.Scenarios.Settings;

/// <summary>Every setting of a scenario as an option; what is not given is the profile's.</summary>
internal sealed class SettingsOptions
{
    private readonly Option<string> _profile =
        new Option<string>("--profile")
        {
            Description = "fixed: figures to compare. quick: seconds, to see that it works.",
            DefaultValueFactory = _ => Profiles.Fixed
        }.AcceptOnlyFromAmong(Profiles.Fixed, Profiles.Quick);
    private readonly Option<string?> _transport =
        new Option<string?>("--transport") { Description = "tcp, tls, ws or wss." }.AcceptOnlyFromAmong([.. Address.Transports]);
    private readonly Option<int?> _connections = Number("--ccu", "Connections.", 1);
    private readonly Option<int?> _size = Number("--size", "Payload bytes of a message.", MessageTemplate.SmallestPayload)
        .AtMost(Frames.LongestPayload);
    private readonly Option<int?> _inFlight = Number("--inflight", "Messages that each connection keeps on their way.", 0);
    private readonly Option<double?> _warmup = Seconds("--warmup", "Seconds under load before anything counts.");
    private readonly Option<double?> _measure =
        Seconds("--measure", "Seconds that count; s1: how long the connections stand.", isSome: true);
    private readonly Option<double?> _drainTimeout = Seconds("--drain-timeout", "Seconds for the replies that are missing at the end.");
    private readonly Option<int?> _connectConcurrency = Number("--connect-concurrency", "Connections being made at the same time.", 1);
    private readonly Option<double?> _connectTimeout =
        Seconds("--connect-timeout", "Seconds for one connection, handshakes included.", isSome: true);
    private readonly Option<int?> _backlog = Number("--backlog", "The server's queue of connections to accept.", 1);
    private readonly Option<int?> _highWaterMark = Number("--hwm", "Messages that a stack may queue per connection and direction.", 1);
    private readonly Option<int?> _shards = Number(
        "--shards", "Shards of net-zlink, I/O threads of native, {shards} of --command; the other servers have none. Default: the "
        + "server's processors.", 1).AtMost(ServerSettings.MostShards);
    private readonly Option<int?> _sendBatch = Number("--send-batch", "Messages that the client sends in one call, at most.", 1);
    private readonly Option<int?> _sampleRate = Number("--latency-sample-rate", "Each so manyth reply is timed.", 1);
    private readonly Option<bool?> _inline = new(
        "--inline-completions")
    { Description = "The runtime's switch, for every .NET server alike: true or false." };

    public void AddTo(Command command)
    {
        foreach (Option option in new Option[]
        {
            _profile, _transport, _connections, _size, _inFlight, _warmup, _measure, _drainTimeout, _connectConcurrency, _connectTimeout,
                _backlog, _highWaterMark, _shards, _sendBatch, _sampleRate, _inline,
        })
        {
            command.Add(option);
        }
    }

    public string ProfileOf(ParseResult request) => request.GetValue(_profile)!;

    /// <exception cref="RequestException">The settings do not go together.</exception>
    public ScenarioSettings Read(ParseResult request, Scenario scenario, int serverProcessors)
    {
        ScenarioSettings profile = Profiles.Of(ProfileOf(request), scenario);
        ScenarioSettings settings = profile with
        {
            Transport = request.GetValue(_transport) ?? profile.Transport,
            Connections = request.GetValue(_connections) ?? profile.Connections,
            Size = request.GetValue(_size) ?? profile.Size,
            InFlight = request.GetValue(_inFlight) ?? profile.InFlight,
            WarmupSeconds = request.GetValue(_warmup) ?? profile.WarmupSeconds,
            MeasureSeconds = request.GetValue(_measure) ?? profile.MeasureSeconds,
            DrainTimeoutSeconds = request.GetValue(_drainTimeout) ?? profile.DrainTimeoutSeconds,
            ConnectConcurrency = request.GetValue(_connectConcurrency) ?? profile.ConnectConcurrency,
            ConnectTimeoutSeconds = request.GetValue(_connectTimeout) ?? profile.ConnectTimeoutSeconds,
            Backlog = request.GetValue(_backlog) ?? profile.Backlog,
            HighWaterMark = request.GetValue(_highWaterMark) ?? profile.HighWaterMark,
            Shards = request.GetValue(_shards) ?? serverProcessors,
            SendBatch = request.GetValue(_sendBatch) ?? profile.SendBatch,
            LatencySampleRate = request.GetValue(_sampleRate) ?? profile.LatencySampleRate,
            InlineCompletions = request.GetValue(_inline) ?? profile.InlineCompletions,
        };
        Check(settings);
        return settings;
    }

    /// <summary>The options that give a client these settings, whatever its profile.</summary>
    public static IReadOnlyList<string> ToArguments(ScenarioSettings settings) =>
    [
        "--transport", settings.Transport,
        "--ccu", Text(settings.Connections),
        "--size", Text(settings.Size),
        "--inflight", Text(settings.InFlight),
        "--warmup", Text(settings.WarmupSeconds),
        "--measure", Text(settings.MeasureSeconds),
        "--drain-timeout", Text(settings.DrainTimeoutSeconds),
        "--connect-concurrency", Text(settings.ConnectConcurrency),
        "--connect-timeout", Text(settings.ConnectTimeoutSeconds),
        "--backlog", Text(settings.Backlog),
        "--hwm", Text(settings.HighWaterMark),
        "--shards", Text(settings.Shards),
        "--send-batch", Text(settings.SendBatch),
        "--latency-sample-rate", Text(settings.LatencySampleRate),
        "--inline-completions", settings.InlineCompletions ? "true" : "false",
    ];

    private static void Check(ScenarioSettings settings)
    {
        if (settings.Scenario == Scenario.S1 != (settings.InFlight == 0))
        {
            throw new RequestException(settings.Scenario == Scenario.S1 ? "s1 has nothing in flight: leave --inflight out, or take s2."
                : "--inflight must be at least 1; s1 is the scenario that sends nothing.");
        }

        long batch = (long)Math.Min(settings.SendBatch, settings.InFlight) * (settings.Size + Frames.HeaderSize);
        if (batch > Array.MaxLength)
        {
            throw new RequestException(string.Create(
                CultureInfo.InvariantCulture,
                $"What the client sends in one call would be {batch:N0} bytes: take a smaller --send-batch."));
        }
    }

    private static string Text(double number) => number.ToString(CultureInfo.InvariantCulture);

    private static Option<int?> Number(string name, string description, int least) =>
        new Option<int?>(name) { Description = description }.AtLeast(least);

    /// <param name="name">The option's.</param>
    /// <param name="description">For the help.</param>
    /// <param name="isSome">No time at all makes no sense.</param>
    private static Option<double?> Seconds(string name, string description, bool isSome = false)
    {
        var option = new Option<double?>(name) { Description = description };
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<double?>() is double seconds
                && (!(seconds is >= 0 and <= OptionChecks.SecondsOfADay) || (isSome && seconds == 0)))
            {
                result.AddError($"{name} is a number of seconds, {(isSome ? "above 0, at most" : "0 to")} {OptionChecks.SecondsOfADay}.");
            }
        });
        return option;
    }
}
