using Net.Zlink.Tests.Support;
using static Net.Zlink.Services.Tests.Support.RegistryClient;

namespace Net.Zlink.Services.Tests.Replay;

/// <summary>A peer registry that lists what a scene needs.</summary>
internal sealed class PeerPublisher : IDisposable
{
    private readonly XPubSocket _socket;
    private readonly MessageBuilder _message = new();

    public PeerPublisher(ZlinkContext context)
    {
        _socket = context.CreateXPub();
        Endpoint = _socket.Bind("tcp://127.0.0.1:0");
    }

    public string Endpoint { get; }

    /// <summary>Sends a list, and waits until the registry shows it.</summary>
    public async Task ListAsync(ServiceRegistry registry, params (string Service, string Endpoint)[] entries)
    {
        using Message subscription = await _socket.ReceiveAsync(Guard.Token).Guarded();
        IGrouping<string, string>[] services = [.. entries.GroupBy(
            static entry => entry.Service, static entry => entry.Endpoint, StringComparer.Ordinal)];
        _message.Add(U16(5)).Add(U32(registry.Id + 1)).Add(U64(1)).Add(U32((uint)services.Length));
        foreach (IGrouping<string, string> service in services)
        {
            _message.Add(U16(1)).Add(Text(service.Key)).Add(U32((uint)service.Count()));
            foreach (string endpoint in service)
            {
                _message.Add(Text(endpoint)).Add(Text("peer's")).Add(U32(1));
            }
        }

        await _socket.SendAsync(_message, Guard.Token).Guarded();
        await Guard.UntilAsync(() => registry.GetSnapshot().PeerLists == 1, "the registry takes its peer's list");
    }

    public void Dispose()
    {
        _socket.Dispose();
        _message.Dispose();
    }
}
