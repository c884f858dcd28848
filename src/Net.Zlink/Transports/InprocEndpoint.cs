namespace Net.Zlink.Transports;

/// <summary>A name within a context: messages take no wire.</summary>
internal sealed class InprocEndpoint(EndpointText text) : TransportEndpoint(text)
{
    public override string Path { get; } = text.Remainder;

    public static bool TryParse(in EndpointText text, EndpointUse use, out TransportEndpoint endpoint, out EndpointError error)
    {
        (endpoint, error) = (new InprocEndpoint(text), EndpointError.None);
        return true;
    }
}
