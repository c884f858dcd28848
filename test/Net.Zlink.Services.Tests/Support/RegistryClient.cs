using System.Buffers.Binary;
using System.Globalization;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Services.Tests.Support;

/// <summary>A plain DEALER that speaks with a registry by frames that are written down here, independent of the product.</summary>
internal sealed class RegistryClient : IDisposable
{
    private readonly MessageBuilder _message = new();

    public RegistryClient(ZlinkContext context, string routerEndpoint, byte[] routingId)
    {
        Socket = context.CreateDealer(new DealerOptions { RoutingId = routingId, Linger = TimeSpan.Zero });
        Socket.Connect(routerEndpoint);
    }

    public DealerSocket Socket { get; }

    public static byte[][] Register(string service, string endpoint, uint weight = 1, ushort kind = 1) =>
        [U16(1), U16(kind), Text(service), Text(endpoint), U32(weight)];

    public static byte[][] UpdateWeight(string service, string endpoint, uint weight, ushort kind = 1) =>
        [U16(7), U16(kind), Text(service), Text(endpoint), U32(weight)];

    public static byte[][] Unregister(string service, string endpoint, ushort kind = 1) =>
        [U16(3), U16(kind), Text(service), Text(endpoint)];

    public static byte[][] Heartbeat(string service, string endpoint, ushort kind = 1) =>
        [U16(4), U16(kind), Text(service), Text(endpoint)];

    public async Task SendAsync(params byte[][] frames)
    {
        foreach (byte[] frame in frames)
        {
            _message.Add(frame);
        }

        await Socket.SendAsync(_message, Guard.Token).Guarded();
    }

    /// <summary>Sends a request and reads its answer: "0 endpoint text" with the status in hexadecimal.</summary>
    public async Task<string> AskAsync(params byte[][] frames)
    {
        await SendAsync(frames);
        return await ReadAckAsync();
    }

    public async Task<string> ReadAckAsync()
    {
        using Message ack = await Socket.ReceiveAsync(Guard.Token).Guarded();
        return ack.PartCount == 5 && ack[4].Span.SequenceEqual("ZRG\u0001"u8) && ack.Span.SequenceEqual(U16(2)) && ack[1].Length == 1
            ? string.Create(CultureInfo.InvariantCulture, $"{ack[1].Span[0]:x} {ack.GetString(2)} {ack.GetString(3)}")
            : $"no ack: {string.Join('|', ack.ToArrays().Select(Convert.ToHexStringLower))}";
    }

    public void Dispose()
    {
        Socket.Dispose();
        _message.Dispose();
    }

    public static byte[] U16(ushort value)
    {
        byte[] bytes = new byte[2];
        BinaryPrimitives.WriteUInt16LittleEndian(bytes, value);
        return bytes;
    }

    public static byte[] U32(uint value)
    {
        byte[] bytes = new byte[4];
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, value);
        return bytes;
    }

    public static byte[] U64(ulong value)
    {
        byte[] bytes = new byte[8];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, value);
        return bytes;
    }

    public static byte[] Text(string text) => System.Text.Encoding.UTF8.GetBytes(text);
}
