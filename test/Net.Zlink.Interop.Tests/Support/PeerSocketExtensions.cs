using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Xunit;

namespace Net.Zlink.Interop.Tests.Support;

/// <summary>What tests do with a socket again and again.</summary>
internal static class PeerSocketExtensions
{
    /// <summary>Sends; that there is no room or no peer within the limit is a failure.</summary>
    public static void Send(this IPeerSocket socket, params byte[][] parts)
    {
        PeerSendResult result = PeerSendResult.Unreachable;
        Limits.Until("the peer can be reached", slice =>
        {
            result = socket.Send(parts, Limits.Wait);
            if (result is not PeerSendResult.Unreachable)
            {
                return true;
            }

            // A peer becomes known when its connection is ready: that is an event.
            socket.NextEvent(slice);
            return false;
        });
        Assert.Equal(PeerSendResult.Sent, result);
    }

    /// <summary>Whether it can be received from, or sent to, without waiting.</summary>
    public static bool IsReadyFor(this IPeerSocket socket, NativePollEvents what) =>
        ((NativePollEvents)BitConverter.ToInt32(Convert.FromHexString(
            socket.TryGetOption(NativeOption.Events, sizeof(int)).Split(": ")[1])) & what) != NativePollEvents.None;

    public static void SendText(this IPeerSocket socket, params string[] parts) =>
        socket.Send(Array.ConvertAll(parts, Encoding.UTF8.GetBytes));

    /// <summary>Sends without waiting.</summary>
    public static PeerSendResult TrySendText(this IPeerSocket socket, params string[] parts) =>
        socket.Send(Array.ConvertAll(parts, Encoding.UTF8.GetBytes), TimeSpan.Zero);

    /// <summary>The next message; that there is none within the limit is a failure.</summary>
    public static byte[][] Receive(this IPeerSocket socket)
    {
        byte[][]? message = socket.Receive(Limits.Wait);
        Assert.True(message is not null, "no message came");
        return message;
    }

    /// <summary>The next message's parts as text, joined by a bar.</summary>
    public static string ReceiveText(this IPeerSocket socket) => TextOf(socket.Receive());

    /// <summary>The same, or null if nothing comes in the time of <see cref="Limits.Nothing"/>.</summary>
    public static string? ReceiveTextOrNothing(this IPeerSocket socket) => socket.Receive(Limits.Nothing) is { } message ? TextOf(message)
        : null;

    public static void Subscribe(this IPeerSocket socket, string prefix) => socket.Subscribe(Encoding.UTF8.GetBytes(prefix));

    public static void Unsubscribe(this IPeerSocket socket, string prefix) => socket.Unsubscribe(Encoding.UTF8.GetBytes(prefix));

    public static void SetOption(this IPeerSocket socket, int option, string value) =>
        socket.SetOption(option, Encoding.UTF8.GetBytes(value));

    /// <summary>Reads events up to the first of that type, and returns it.</summary>
    public static PeerEvent WaitForEvent(this IPeerSocket socket, NativeEventTypes type)
    {
        PeerEvent? read = null;
        Limits.Until($"event {type}", _ => (read = socket.NextEvent(Limits.Wait))?.Type == type);
        return read!;
    }

    /// <summary>Reads events up to the first of that type: their text, in order.</summary>
    public static List<string> EventsUpTo(this IPeerSocket socket, NativeEventTypes type)
    {
        List<string> events = [];
        PeerEvent? read;
        do
        {
            read = socket.NextEvent(Limits.Wait);
            Assert.True(read is not null, $"no {type} came after: {string.Join(", ", events)}");
            events.Add(read.ToString());
        }
        while (read.Type != type);

        return events;
    }

    private static string TextOf(byte[][] message) => string.Join('|', message.Select(Encoding.UTF8.GetString));
}
