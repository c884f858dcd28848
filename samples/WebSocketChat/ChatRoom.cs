using System.Collections.Concurrent;
using System.Text.Json;
using Net.Zlink;
using Net.Zlink.Monitoring;

namespace Samples.WebSocketChat;

/// <summary>
/// The room: everyone hears of everyone. The library calls it on the peers' shards, several at once: who is here is a concurrent table, and
/// lines go out one after the other, under a lock that is held for
/// as long as it takes to queue one.
/// </summary>
internal sealed class ChatRoom : StreamHandler
{
    /// <summary>A line of text and a name, with room for a language whose letters take 4 bytes; a peer that announces more is cut off on
    /// its length field.</summary>
    public const int LongestFrame = 8 * 1024;

    /// <summary>A tab that leaves so many lines unread has gone to sleep: lines for it are dropped until it reads again.</summary>
    public const int MostUnread = 1000;

    private const int LongestText = 1000;
    private const int LongestName = 30;

    private readonly ConcurrentDictionary<uint, StreamPeer> _here = new();
    private readonly Lock _telling = new();
    private long _lines;
    private long _visits;

    public string Summary => FormattableString.Invariant($"{Volatile.Read(ref _visits):N0} visits, {Volatile.Read(ref _lines):N0} lines");

    public override void OnConnected(StreamPeer peer)
    {
        Interlocked.Increment(ref _visits);
        peer.UserState = $"guest {peer.Id}";
        _here[peer.Id] = peer;
        TellAll("joined", NameOf(peer), "");
    }

    public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
    {
        foreach (ReadOnlyMemory<byte> frame in frames)
        {
            if (!TryRead(frame.Span, out ChatLine line) || !Take(peer, line))
            {
                peer.Disconnect(); // Not our page.
                break;
            }
        }

        return ValueTask.CompletedTask;
    }

    public override void OnDisconnected(StreamPeer peer, DisconnectReason reason)
    {
        _here.TryRemove(peer.Id, out _);
        TellAll("left", NameOf(peer), "");
    }

    private static string NameOf(StreamPeer peer) => (string)peer.UserState!;

    private static bool TryRead(ReadOnlySpan<byte> frame, out ChatLine line)
    {
        try
        {
            line = JsonSerializer.Deserialize(frame, ChatJson.Default.ChatLine)!;
            return line is { Kind: not null, Text.Length: > 0 and <= LongestText };
        }
        catch (JsonException)
        {
            line = null!;
            return false;
        }
    }

    private bool Take(StreamPeer peer, ChatLine line)
    {
        switch (line.Kind)
        {
            case "name" when line.Text.Length <= LongestName:
                string before = NameOf(peer);
                peer.UserState = line.Text;
                TellAll("renamed", before, line.Text);
                return true;
            case "say":
                Interlocked.Increment(ref _lines);
                TellAll("said", NameOf(peer), line.Text);
                return true;
            default:
                return false;
        }
    }

    // Every line says who is here. In one order for all, the last of them says it right: it is made after every change that has been told.
    private void TellAll(string kind, string name, string text)
    {
        lock (_telling)
        {
            var line = new ChatLine(kind, text, name, [.. _here.Values.Select(NameOf).Order(StringComparer.Ordinal)]);
            byte[] bytes = JsonSerializer.SerializeToUtf8Bytes(line, ChatJson.Default.ChatLine);
            foreach (StreamPeer peer in _here.Values)
            {
                peer.TrySend(bytes); // A tab that does not read misses lines; nobody waits for it.
            }
        }
    }
}
