using System.Buffers.Binary;
using System.Globalization;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests.Support;

/// <summary>A plain SUB at a registry that shows lists as text, read here independent of the product.</summary>
internal sealed class ListFollower : IDisposable
{
    public ListFollower(ZlinkContext context, string publisherEndpoint, string topic = "")
    {
        Socket = context.CreateSub();
        Socket.Subscribe(topic);
        Socket.Connect(publisherEndpoint);
    }

    public SubSocket Socket { get; }

    /// <summary>The next message: "5 of 7, 3: 1/echo tcp://x id=a w=3; ..." with kind, name, endpoint, routing id, weight.</summary>
    public async Task<string> ReadAsync()
    {
        using Message message = await Socket.ReceiveAsync(Guard.Token).Guarded();
        return Show(message.ToArrays());
    }

    /// <summary>The next SERVICE_LIST, of whatever other messages come before it: its services alone.</summary>
    public async Task<string> ReadServicesAsync()
    {
        while (true)
        {
            string list = await ReadAsync();
            if (list.StartsWith('5'))
            {
                return Services(list);
            }
        }
    }

    /// <summary>Reads until the list shows these services.</summary>
    public async Task UntilAsync(string services)
    {
        string seen = "nothing";
        try
        {
            while (!string.Equals(seen = await ReadServicesAsync(), services, StringComparison.Ordinal))
            {
            }
        }
        catch (TimeoutException)
        {
            Assert.Fail($"the list did not become \"{services}\"; the last one was \"{seen}\"");
        }
    }

    public static string Services(string list) => list[(list.IndexOf(':', StringComparison.Ordinal) + 1)..].Trim();

    public static string Show(byte[][] frames)
    {
        int next = 0;
        ReadOnlySpan<byte> Next() => frames[next++];
        ushort id = BinaryPrimitives.ReadUInt16LittleEndian(Next());
        uint registry = BinaryPrimitives.ReadUInt32LittleEndian(Next());
        ulong sequence = BinaryPrimitives.ReadUInt64LittleEndian(Next());
        uint services = BinaryPrimitives.ReadUInt32LittleEndian(Next());
        List<string> shown = [];
        for (uint i = 0; i < services; i++)
        {
            ushort kind = BinaryPrimitives.ReadUInt16LittleEndian(Next());
            string service = System.Text.Encoding.UTF8.GetString(Next());
            uint count = BinaryPrimitives.ReadUInt32LittleEndian(Next());
            for (uint j = 0; j < count; j++)
            {
                string endpoint = System.Text.Encoding.UTF8.GetString(Next());
                string routingId = System.Text.Encoding.UTF8.GetString(Next());
                shown.Add(string.Create(CultureInfo.InvariantCulture,
                    $"{kind}/{service} {endpoint} id={routingId} w={BinaryPrimitives.ReadUInt32LittleEndian(Next())}"));
            }
        }

        Assert.Equal(frames.Length, next + (ListRemovals.Read(new Frames(frames)).Count > 0 ? 1 : 0));
        return string.Create(CultureInfo.InvariantCulture, $"{id} of {registry}, {sequence}: {string.Join("; ", shown)}");
    }

    public void Dispose() => Socket.Dispose();
}
