using System.Text.Json;
using System.Text.Json.Serialization;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>How the files of --json look.</summary>
internal static class JsonOutput
{
    public static JsonSerializerOptions Options { get; } = new(JsonSerializerDefaults.Web)
    {
        WriteIndented = true,
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        Converters = { new JsonStringEnumConverter(JsonNamingPolicy.CamelCase) },
    };
}
