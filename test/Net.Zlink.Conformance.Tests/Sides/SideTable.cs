namespace Net.Zlink.Conformance.Tests.Sides;

/// <summary>The socket types that the library can take in a transcript. A type that is not here makes its transcripts fail, with its name.</summary>
internal static class SideTable
{
    public static readonly IReadOnlyDictionary<string, SideAdapter> Adapters = new Dictionary<string, SideAdapter>(StringComparer.Ordinal)
    {
        ["STREAM"] = new(static request => new StreamSide(request), new StreamSeveringOracle()),
    };
}
