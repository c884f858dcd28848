using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour.Fixtures;

/// <summary>Guarded sends and receives, in words a test can be read in. Text stands for bytes, one character each.</summary>
internal static class SocketWords
{
    public static byte[] Bytes(string text) => Encoding.Latin1.GetBytes(text);

    public static string Text(ReadOnlySpan<byte> bytes) => Encoding.Latin1.GetString(bytes);

    public static MessageBuilder Parts(params string[] parts)
    {
        var builder = new MessageBuilder();
        foreach (string part in parts)
        {
            builder.Add(Bytes(part));
        }

        return builder;
    }

    public static void Say(this DuplexSocket socket, params string[] parts)
    {
        socket.Options.SendTimeout = Guard.Limit;
        using MessageBuilder message = Parts(parts);
        socket.Send(message);
    }

    public static void Say(this PubSocket socket, params string[] parts)
    {
        using MessageBuilder message = Parts(parts);
        socket.Send(message);
    }

    public static void SayTo(this RouterSocket socket, ReadOnlySpan<byte> id, params string[] parts)
    {
        socket.Options.SendTimeout = Guard.Limit;
        using MessageBuilder message = Parts(parts);
        socket.To(id).Send(message);
    }

    public static void SayTo(this RouterSocket socket, string id, params string[] parts) => socket.SayTo(Bytes(id), parts);

    public static bool TrySay(this DuplexSocket socket, params string[] parts)
    {
        using MessageBuilder message = Parts(parts);
        return socket.TrySend(message);
    }

    /// <summary>The next message's parts.</summary>
    public static async Task<string[]> HearAsync(this ReceivingSocket socket)
    {
        using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
        return [.. message.ToArrays().Select(static part => Text(part))];
    }

    /// <summary>The next message, which must have one part.</summary>
    public static async Task<string> HearOneAsync(this ReceivingSocket socket) => Assert.Single(await socket.HearAsync());

    /// <summary>The next message with the id of its sender.</summary>
    public static async Task<(byte[] Id, string[] Parts)> HearFromAsync(this RouterSocket socket)
    {
        using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
        return (message.RoutingId.ToArray(), [.. message.ToArrays().Select(static part => Text(part))]);
    }

    /// <summary>There is nothing to receive now.</summary>
    public static void HearsNothing(this ReceivingSocket socket)
    {
        if (socket.TryReceive(out Message message))
        {
            using (message)
            {
                Assert.Fail($"nothing was to come, but \"{Text(message.Span)}\" did");
            }
        }
    }

    /// <summary>The native tests' "bounce": two parts of 32 bytes there and back.</summary>
    public static async Task BounceAsync(DuplexSocket server, DuplexSocket client)
    {
        string[] content = [new string('0', 32), new string('1', 32)];
        client.Say(content);
        Assert.Equal(content, await server.HearAsync());
        server.Say(content);
        Assert.Equal(content, await client.HearAsync());
    }

    /// <summary>The call fails with that error, by its native name.</summary>
    public static void Fails(string nativeName, Action call) =>
        Assert.Equal(nativeName, Record.Exception(call) switch
        {
            TimeoutException => "EAGAIN", // What says EAGAIN natively is a wait whose time has passed.
            ZlinkException failed => failed.Error.ToNativeName(),
            var other => other?.GetType().Name,
        });

    /// <summary>The next event, whatever it is.</summary>
    public static Task<SocketEvent> NextAsync(this EventReader monitor) => monitor.ReadAsync(Guard.Token).Guarded();

    /// <summary>The types of the next so many events.</summary>
    public static async Task<SocketEventTypes[]> NextAsync(this EventReader monitor, int count)
    {
        var types = new SocketEventTypes[count];
        for (int i = 0; i < count; i++)
        {
            types[i] = (await monitor.NextAsync()).Type;
        }

        return types;
    }

    /// <summary>No event waits.</summary>
    public static void IsSilent(this EventReader monitor) =>
        Assert.False(monitor.TryRead(out SocketEvent one), $"an event too many: {one}");
}
