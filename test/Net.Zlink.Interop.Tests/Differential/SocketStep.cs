namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>What an application does with one of its sockets.</summary>
internal enum SocketAction
{
    Bind,
    Unbind,
    Connect,
    Disconnect,
    Send,

    /// <summary>Takes all there is.</summary>
    Receive,
    Subscribe,
    Unsubscribe,
    Close,
}

/// <summary>One thing that an application does with one of its sockets, which are numbered from 0, as are the endpoints.</summary>
internal sealed record SocketStep(int Socket, SocketAction Action, int Endpoint = 0, byte[][]? Parts = null)
{
    public byte[] Topic => Parts![0];

    public override string ToString() => Action switch
    {
        SocketAction.Bind or SocketAction.Unbind or SocketAction.Connect or SocketAction.Disconnect => $"S{Socket}: {Action} e{Endpoint}",
        SocketAction.Receive or SocketAction.Close => $"S{Socket}: {Action}",
        _ => $"S{Socket}: {Action} {string.Join('|', Parts!.Select(System.Text.Encoding.ASCII.GetString))}",
    };
}
