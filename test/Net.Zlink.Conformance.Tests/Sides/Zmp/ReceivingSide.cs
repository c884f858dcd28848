namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>A side whose application receives.</summary>
internal abstract class ReceivingSide(SideRequest request) : ZmpSide(request)
{
    /// <summary>The native core's names of what a message says about its sender.</summary>
    private static readonly string[] PropertyNames = ["Socket-Type", "Identity", "Routing-Id"];

    protected abstract ReceivingSocket Receiver { get; }

    public override bool TryReceive(out ReceivedMessage message)
    {
        bool found = Receiver.TryReceive(out Message received);
        message = found ? Taken(received) : null!;
        return found;
    }

    public override async ValueTask<ReceivedMessage> ReceiveAsync(CancellationToken cancellation) =>
        Taken(await Receiver.ReceiveAsync(cancellation));

    /// <summary>The message in the native shape.</summary>
    protected virtual IReadOnlyList<byte[]> PartsOf(in Message message) => message.ToArrays();

    private ReceivedMessage Taken(Message message)
    {
        using (message)
        {
            var properties = new Dictionary<string, string>(StringComparer.Ordinal);
            foreach (string name in PropertyNames)
            {
                if (message.TryGetProperty(name, out string? value))
                {
                    properties.Add(name, value);
                }
            }

            return new ReceivedMessage(PartsOf(message), properties);
        }
    }
}
