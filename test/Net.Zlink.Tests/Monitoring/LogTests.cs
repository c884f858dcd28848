using System.Reflection;
using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.PublicApi;
using Xunit;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>What programs that filter the log rely on.</summary>
public sealed class LogTests
{
    // A line is added here with the next number; one that is no longer written stays as a comment, so that its number is not used again.
    private static readonly (int Id, LogLevel Level, string Name)[] Known =
    [
        (1, LogLevel.Warning, "ConnectionRefused"),
        (2, LogLevel.Warning, "AcceptFailed"),
        (3, LogLevel.Error, "ListenerClosed"),
        (4, LogLevel.Error, "HandlerFailed"),
        (5, LogLevel.Warning, "SlowRun"),
        (6, LogLevel.Debug, "PeerGone"),
        (7, LogLevel.Warning, "Undelivered"),
        (8, LogLevel.Warning, "PoolStarved"),
        (9, LogLevel.Debug, "ConnectionLost"),
        (10, LogLevel.Error, "SessionFailed"),
        (11, LogLevel.Warning, "GaveUp"),
        (12, LogLevel.Error, "EventCallbackFailed"),
        (13, LogLevel.Warning, "HandshakeFailed"),
        (14, LogLevel.Warning, "CannotConnect"),
        (15, LogLevel.Debug, "HandshakeLost"),
        (16, LogLevel.Error, "MeterListenerFailed"),
        (17, LogLevel.Warning, "WarningsLeftOut"),
        (18, LogLevel.Warning, "BlockedRun"),
        (19, LogLevel.Error, "ShardNotEnded"),
        (20, LogLevel.Warning, "PeerBrokeProtocol"),
        (21, LogLevel.Error, "CapacityNotNotified"),
        (22, LogLevel.Warning, "PeerUnfinishedLimit"),
        (23, LogLevel.Warning, "FilesNotRenewed"),
        (24, LogLevel.Debug, "AttemptFailed"),
    ];

    [Fact]
    public void The_event_id_level_and_name_of_every_log_line_are_the_ones_that_were_published()
    {
        (int Id, LogLevel Level, string Name)[] lines =
        [
            .. typeof(Log).GetMethods(BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.DeclaredOnly)
                .Select(static method => (method.Name, Line: method.GetCustomAttribute<LoggerMessageAttribute>()))
                .Where(static one => one.Line is not null)
                .Select(static one => (one.Line!.EventId, one.Line.Level, one.Line.EventName ?? one.Name))
                .OrderBy(static one => one.EventId),
        ];
        Assert.Equal(Known, lines);
    }

    [Fact]
    public void The_page_for_those_who_filter_has_a_row_for_each()
    {
        string page = File.ReadAllText(Path.Combine(SourceTree.Root, "docs", "monitoring.md"));
        Assert.All(Known, line => Assert.Contains($"| {line.Id} | {line.Level} | `{line.Name}` |", page, StringComparison.Ordinal));
    }

    [Fact]
    public void A_log_message_has_its_documented_event_id_and_name()
    {
        var log = new RecordingLoggers();
        Log.Undelivered(log, "a", "tcp://b", 2, 30);
        Assert.Equal((new EventId(7, "Undelivered"), "Undelivered"), (Assert.Single(log.Events).Id, log.Events.Single().Id.Name));
        Assert.Equal("Peer a of tcp://b: 2 accepted messages (30 bytes) were not delivered", Assert.Single(log.TextsOf(7)));
    }
}
