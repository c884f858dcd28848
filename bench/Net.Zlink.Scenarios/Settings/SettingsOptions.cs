using System.CommandLine;
using System.Globalization;
using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Wire;

namespace Net.Zlink.Scenarios.Settings;

/// <summary>Every setting of a scenario as an option; what is not given is the profile's.</summary>
internal sealed class SettingsOptions
{
    private readonly Option<string> _profile = new Option<string>("--profile") { Description = "fixed: figures to compare. quick: seconds, to see that it works.", DefaultValueFactory = _ => Profiles.Fixed }.AcceptOnlyFromAmong(Profiles.Fixed, Profiles.Quick);
    private readonly Option<string?> _transport = new Option<string?>("--transport") { Description = "tcp, tls, ws or wss." }.AcceptOnlyFromAmong([.. Address.Transports]);
    private readonly Option<int?> _connections = Number("--ccu", "Connections.", 1);
    private readonly Option<int?> _size = Number("--size", "Payload bytes of a message.", MessageTemplate.SmallestPayload);
    private readonly Option<int?> _inFlight = Number("--inflight", "Messages that each connection keeps on their way.", 0);
    private readonly Option<double?> _warmup = Seconds("--warmup", "Seconds under load before anything counts.");
    private readonly Option<double?> _measure = Seconds("--measure", "Seconds that count; s1: how long the connections stand.");
    private readonly Option<double?> _drainTimeout = Seconds("--drain-timeout", "Seconds for the replies that are missing at the end.");
    private readonly Option<int?> _connectConcurrency = Number("--connect-concurrency", "Connections being made at the same time.", 1);
    private readonly Option<double?> _connectTimeout = Seconds("--connect-timeout", "Seconds for one connection, handshakes included.");
    private readonly Option<int?> _backlog = Number("--backlog", "The server's queue of connections to accept.", 1);
    private readonly Option<int?> _highWaterMark = Number("--hwm", "Messages that a stack may queue per connection and direction.", 1);
    private readonly Option<int?> _shards = Number("--shards", "Shards or I/O threads of the server. Default: its processors.", 1);
    private readonly Option<int?> _sendBatch = Number("--send-batch", "Messages that the client sends in one call, at most.", 1);
    private readonly Option<int?> _sampleRate = Number("--latency-sample-rate", "Each so manyth reply is timed.", 1);
    private readonly Option<bool?> _inline = new("--inline-completions") { Description = "The runtime's switch, for every .NET server alike: true or false." };

    public void AddTo(Command command)
    {
        foreach (Option option in new Option[]
        {
            _profile, _transport, _connections, _size, _inFlight, _warmup, _measure, _drainTimeout, _connectConcurrency, _connectTimeout, _backlog, _highWaterMark, _shards, _sendBatch, _sampleRate, _inline,
        })
        {
            command.Add(option);
        }
    }

    public string ProfileOf(ParseResult request) => request.GetValue(_profile)!;

    public ScenarioSettings Read(ParseResult request, Scenario scenario, int serverProcessors)
    {
        ScenarioSettings profile = Profiles.Of(ProfileOf(request), scenario);
        return profile with
        {
            Transport = request.GetValue(_transport) ?? profile.Transport,
            Connections = request.GetValue(_connections) ?? profile.Connections,
            Size = request.GetValue(_size) ?? profile.Size,
            InFlight = scenario == Scenario.S1 ? 0 : request.GetValue(_inFlight) ?? profile.InFlight,
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

    private static string Text(double number) => number.ToString(CultureInfo.InvariantCulture);

    private static Option<int?> Number(string name, string description, int least)
    {
        var option = new Option<int?>(name) { Description = description };
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int?>() < least)
            {
                result.AddError($"{name} must be at least {least}.");
            }
        });
        return option;
    }

    private static Option<double?> Seconds(string name, string description)
    {
        var option = new Option<double?>(name) { Description = description };
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<double?>() is < 0 or > 86_400)
            {
                result.AddError($"{name} is a number of seconds, 0 to 86,400.");
            }
        });
        return option;
    }
}
