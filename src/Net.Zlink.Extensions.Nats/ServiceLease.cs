using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Nats;

/// <summary>JSON, so that other programs can read and write it.</summary>
internal sealed record ServiceLease(string Service, string Endpoint, uint Weight = 1, string? RoutingId = null)
{
    // The longest names, each byte escaped, and the rest.
    public const int MaxBytes = 4096;
    private const int MaxNameBytes = 255;
    private const int MaxRoutingIdBytes = 255;

    public static ServiceLease Of(ServiceInstance instance) => new(instance.Service, instance.Endpoint, instance.Weight,
        instance.RoutingId.IsEmpty ? null : Convert.ToHexString(instance.RoutingId.Span));

    /// <summary>Bytes that a key may not have are escaped as <c>=2E</c>.</summary>
    public static string KeyOf(string service, string endpoint) => $"{Escape(service)}.{Escape(endpoint)}";

    /// <summary>For the log: another program may have written any key.</summary>
    public static (string Service, string Endpoint) NamesOf(string key)
    {
        string[] names = key.Split('.', 2);
        return names.Length == 2 ? (Unescape(names[0]), Unescape(names[1])) : ("no service", Unescape(key));
    }

    public static ServiceInstance? Read(string key, byte[] json, out string reason)
    {
        reason = "";
        if (json.Length > MaxBytes)
        {
            reason = $"the entry has more than {MaxBytes} bytes";
            return null;
        }

        ServiceLease? lease;
        try
        {
            lease = JsonSerializer.Deserialize(json, LeaseJson.Default.ServiceLease);
        }
        catch (JsonException e)
        {
            reason = e.Message;
            return null;
        }

        if (lease is null || !IsName(lease.Service) || !IsName(lease.Endpoint) || lease.Weight == 0
            || !string.Equals(key, KeyOf(lease.Service, lease.Endpoint), StringComparison.Ordinal))
        {
            reason = "the entry has no service, endpoint or weight, or does not match its key";
            return null;
        }

        if (!TryReadId(lease.RoutingId, out RoutingId id))
        {
            reason = "the entry's routing id is not hexadecimal or is too long";
            return null;
        }

        return new ServiceInstance(lease.Service, lease.Endpoint) { RoutingId = id, Weight = lease.Weight };
    }

    public byte[] ToJson() => JsonSerializer.SerializeToUtf8Bytes(this, LeaseJson.Default.ServiceLease);

    private static bool TryReadId(string? text, out RoutingId id)
    {
        id = default;
        if (string.IsNullOrEmpty(text))
        {
            return true;
        }

        byte[] bytes = new byte[MaxRoutingIdBytes];
        if (Convert.FromHexString(text, bytes, out _, out int length) != System.Buffers.OperationStatus.Done)
        {
            return false;
        }

        id = new RoutingId(bytes.AsMemory(0, length));
        return true;
    }

    private static bool IsName(string? name) => !string.IsNullOrEmpty(name) && Encoding.UTF8.GetByteCount(name) <= MaxNameBytes;

    private static string Unescape(string name) => Uri.UnescapeDataString(name.Replace('=', '%'));

    private static string Escape(string name)
    {
        var text = new StringBuilder();
        foreach (byte b in Encoding.UTF8.GetBytes(name))
        {
            if (char.IsAsciiLetterOrDigit((char)b) || b is (byte)'-' or (byte)'_' or (byte)'/')
            {
                text.Append((char)b);
            }
            else
            {
                text.Append('=').Append(b.ToString("X2", System.Globalization.CultureInfo.InvariantCulture));
            }
        }

        return text.ToString();
    }
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(ServiceLease))]
internal sealed partial class LeaseJson : JsonSerializerContext;
